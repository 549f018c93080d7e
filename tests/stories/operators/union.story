# UNION ALL keeps every copy, from whichever side it comes.
> CREATE TABLE a (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW both_names AS SELECT name FROM a UNION ALL SELECT name FROM b WHERE id > 1;
> CREATE VIEW counted AS SELECT name, COUNT(*) AS n FROM (SELECT name FROM a UNION ALL SELECT name FROM b) u GROUP BY name;

$ explain both_names
both_names when a changes: linear
both_names when b changes: linear

$ change a
op | id | name
+  | 1  | x

$ change b
op | id | name
+  | 1  | x
+  | 2  | x

$ step

$ rows both_names
name
x
x

$ rows counted
name | n
x    | 3

$ change b
op | id | name
-  | 2  | x

$ step

$ changes both_names
op | name
-  | x

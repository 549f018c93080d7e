# The parts of a union may be of different types; each may change alone.
> CREATE TABLE a (id INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (id INT, y DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW total AS SELECT SUM(x) AS total FROM (SELECT x FROM a UNION ALL SELECT y FROM b) u;
> CREATE VIEW each_once AS SELECT x FROM a UNION SELECT y FROM b;

$ change a
op | id | x
+  | 1  | 1

$ step

$ change b
op | id | y
+  | 1  | 1.7
+  | 2  | 1

$ step

$ rows total
total
3.7

$ rows each_once
x
1
1.7

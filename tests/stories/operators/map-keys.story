# Maps have no order. What is looked up in them, or is chosen beside them, is kept all the same.
> CREATE TABLE l (id INT, g INT, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW highest AS SELECT g, MAX(m['a']) AS a, COUNT(DISTINCT m['b']) AS b FROM l GROUP BY g;
> CREATE VIEW newest AS SELECT g, m['a'] AS a FROM (SELECT g, MAX_BY(m, id) AS m FROM l GROUP BY g);
> CREATE VIEW earliest AS SELECT id, m['a'] AS a FROM (SELECT id, m FROM l ORDER BY id LIMIT 2);

$ change l
op | id | g | m
+  | 1  | 1 | {"a": 1, "b": 1}
+  | 2  | 1 | {"a": 3}
+  | 3  | 2 | {"b": 2}

$ step

$ rows highest
g | a    | b
1 | 3    | 1
2 | NULL | 1

$ rows newest
g | a
1 | 3
2 | NULL

$ rows earliest
id | a
1  | 1
2  | 3

$ change l
op | id | g | m
-  | 2  | 1 | {"a": 3}
+  | 4  | 1 | {"a": 2, "b": 5}

$ step

$ changes highest
op | g | a | b
-  | 1 | 3 | 1
+  | 1 | 2 | 2

$ rows newest
g | a
1 | 2
2 | NULL

$ rows earliest
id | a
1  | 1
3  | NULL

# A join with USING meets the shared column as the joins before it have made it.
> CREATE TABLE a (id INT, k INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (k INT, n INT) WITH ('connector' = 'values');
> CREATE TABLE c (k INT, m INT) WITH ('connector' = 'values');
> CREATE VIEW full_then_full AS SELECT k, a.id, b.n, c.m FROM a FULL JOIN b USING (k) FULL JOIN c USING (k);
> CREATE VIEW full_then_left AS SELECT k, a.id, b.n, c.m FROM a FULL JOIN b USING (k) LEFT JOIN c USING (k);
> CREATE VIEW right_then_left AS SELECT k, a.id, b.n, c.m FROM a RIGHT JOIN b USING (k) LEFT JOIN c USING (k);
> CREATE VIEW left_then_inner AS SELECT k, a.id, b.n, c.m FROM a LEFT JOIN b USING (k) JOIN c USING (k);
> CREATE VIEW natural AS SELECT k, s, n, m FROM a NATURAL RIGHT JOIN b NATURAL LEFT JOIN c;

$ change a
op | id | k    | s
+  | 1  | 1    | p
+  | 2  | NULL | q

$ change b
op | k | n
+  | 1 | 10
+  | 2 | 20

$ change c
op | k | m
+  | 2 | 200
+  | 3 | 300


$ step

$ rows full_then_full
k    | id   | n    | m
1    | 1    | 10   | NULL
2    | NULL | 20   | 200
3    | NULL | NULL | 300
NULL | 2    | NULL | NULL

$ rows full_then_left
k    | id   | n    | m
1    | 1    | 10   | NULL
2    | NULL | 20   | 200
NULL | 2    | NULL | NULL

$ rows right_then_left
k | id   | n  | m
1 | 1    | 10 | NULL
2 | NULL | 20 | 200

$ rows left_then_inner
k | id | n | m

$ rows natural
k | s    | n  | m
1 | p    | 10 | NULL
2 | NULL | 20 | 200

$ change b
op | k | n
-  | 2 | 20
+  | 3 | 30

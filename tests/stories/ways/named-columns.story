# A view whose columns have other names than its query's: rules find in State what they stored there.
> CREATE TABLE loose (a INT, b INT, s STRING) WITH ('connector' = 'values');
> CREATE VIEW turned (b, a, m) AS SELECT a, b, MAX(s) FROM loose GROUP BY a, b;
> CREATE VIEW other (x, y) AS SELECT s, MAX(a) FROM loose GROUP BY s;
> CREATE VIEW hidden (y, x) AS SELECT MIN(b), MAX(a) FROM loose GROUP BY s;
> CREATE VIEW least (b, a) AS SELECT a, b FROM loose ORDER BY a, b LIMIT 2;
> CREATE VIEW again (n) AS SELECT COUNT(*) FROM turned;

$ change loose
op | a | b | s
+  | 1 | 2 | p
+  | 3 | 4 | q

$ step

$ change loose
op | a | b | s
+  | 1 | 2 | z
-  | 3 | 4 | q

$ step

$ rows turned
b | a | m
1 | 2 | z

$ changes other
op | x | y
-  | q | 3
+  | z | 1

$ changes hidden
op | y | x
+  | 2 | 1
-  | 4 | 3

$ changes least
op | b | a
+  | 1 | 2
-  | 3 | 4

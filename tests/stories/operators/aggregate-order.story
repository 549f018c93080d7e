# Floats, lists and wide decimals in a group that is computed anew: what goes is exactly what came.
> CREATE TABLE t (id INT, k STRING, x DOUBLE, d DECIMAL(38, 10), PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW v AS
  SELECT k, SUM(x) AS s, MAX(x) AS m, STDDEV(x) AS dev, SORT_ARRAY(COLLECT_LIST(x)) AS xs, SUM(d) AS d FROM t GROUP BY k;
> CREATE VIEW exact AS SELECT k, SUM(d) AS d, COUNT(*) AS n FROM t GROUP BY k;

$ explain exact
exact when t changes: linear

$ change t
op | id | k | x   | d
+  | 1  | a | 0.1 | 1234567890123456789012345678.0123456789
+  | 2  | a | 0.2 | 0.0000000001
+  | 3  | a | 0.3 | NULL
+  | 4  | b | 1e9 | 1

$ step

$ change t
op | id | k | x   | d
-  | 1  | a | 0.1 | 1234567890123456789012345678.0123456789
+  | 5  | a | 0.7 | NULL
+  | 6  | b | 0.1 | 2

$ step

$ change t
op | id | k | x   | d
+  | 7  | a | 0.1 | NULL
-  | 6  | b | 0.1 | 2

$ step

$ rows v
k | s     | m     | dev         | xs                   | d
a | 1.3   | 0.7   | 0.262995564 | [0.1, 0.2, 0.3, 0.7] | 1E-10
b | 1e+09 | 1e+09 | NULL        | [1e+09]              | 1.0000000000

# Keys of different types and floating keys meet as Spark says they do, however few rows are read.
> CREATE TABLE a (id INT, code STRING, size DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (id INT, number INT, size DOUBLE, wide BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW by_code AS SELECT a.id AS a, b.id AS b FROM a JOIN b ON a.code = b.number;
> CREATE VIEW by_size AS SELECT a.id AS a, b.id AS b FROM a JOIN b ON a.size = b.size;
> CREATE VIEW by_wide AS SELECT a.id AS a, b.id AS b FROM a JOIN b ON a.id = b.wide;

$ change a
op | id | code | size
+  | 1  | 07   | 0.0
+  | 2  | 8    | NaN

$ step

$ change b
op | id | number | size | wide
+  | 10 | 7      | -0.0 | 1
+  | 11 | 8      | NaN  | 5000000000

$ step

$ rows by_code
a | b
1 | 10
2 | 11

$ rows by_size
a | b
1 | 10
2 | 11

$ change a
op | id | code | size
-  | 1  | 07   | 0.0

$ step

$ changes by_size
op | a | b
-  | 1 | 10

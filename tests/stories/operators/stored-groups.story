# What a group was is taken back as it was stored: a floating number computed twice may be two numbers.

> CREATE TABLE items (id INT, k INT, s STRING, n BIGINT, p DECIMAL(10,2), x DOUBLE, d DATE, b BOOLEAN, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

> CREATE TABLE users (id BIGINT, k INT, s STRING, d DATE, x DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

> CREATE VIEW spread AS
  SELECT u2.x AS c0, BOOL_AND(i1.b) AS c1, STDDEV(i1.id) AS c2, ARRAY_SORT(COLLECT_SET(k)) AS c3, VARIANCE(k) AS c4, COUNT(DISTINCT i1.p) AS c5 FROM items AS i1 FULL JOIN users AS u2 USING (k, s) GROUP BY ROLLUP(u2.x);

> CREATE VIEW kinds AS
  SELECT DISTINCT c1, c2, c3, c4, c5 FROM spread;

> CREATE VIEW apart AS
  SELECT MAX(id) AS last FROM users GROUP BY d - DATE '2024-01-01';

> CREATE VIEW as_text AS
  SELECT CAST(d - DATE '2024-01-01' AS STRING) AS days, MAX(id) AS last FROM users GROUP BY d - DATE '2024-01-01';

$ explain spread
spread__part1 when items changes: key-local
spread__part1 when users changes: key-local
spread__part2 when spread__part1 changes: key-local
spread when spread__part2 changes: linear

$ change items
op | id | k    | s    | n          | p     | x    | d          | b
+  | 4  | NULL | Bc   | 0          | -2.25 | 10   | 2023-12-31 | NULL
+  | 9  | 3    | NULL | 40         | 99.99 | -2   | NULL       | false
+  | 21 | 4    | ab   | -3         | 99.99 | -2   | 2024-03-15 | false
+  | 17 | 4    | Bc   | -3         | 0.00  | -2   | NULL       | true
+  | 19 | 2    | ä    | 0          | -2.25 | 1.5  | 2024-02-29 | NULL
+  | 18 | NULL |      | 3000000000 | -2.25 | 1.5  | 2024-01-01 | true
+  | 10 | 4    | ä    | -3         | 0.00  | NULL | 2024-01-01 | true
+  | 5  | NULL |      | 0          | 0.00  | NULL | 2024-01-01 | true
+  | 15 | 2    |      | 40         | 1.50  | 1.5  | 2024-02-29 | true
+  | 22 | 0    | ab   | 2          | -2.25 | 0    | NULL       | true
+  | 13 | NULL | a    | 3000000000 | -2.25 | -2   | NULL       | NULL
+  | 7  | 2    | NULL | 1          | 99.99 | 3.75 | 2024-01-01 | NULL

$ change users
op | id | k    | s    | d          | x
+  | 10 | 4    | ä    | 2024-01-01 | 10
+  | 15 | 0    |      | 2023-12-31 | 10
+  | 20 | 4    | Bc   | 2024-03-15 | 10
+  | 9  | 4    | ab   | 2024-01-01 | NULL
+  | 17 | 2    | ä    | 2024-01-01 | 1.5
+  | 23 | 4    | Bc   | 2024-02-29 | NULL
+  | 22 | 1    | b    | 2024-01-01 | 0
+  | 2  | 2    | b    | NULL       | 3.75
+  | 21 | NULL | NULL | 2024-01-01 | 10
+  | 7  | 3    | a    | 2024-03-15 | NULL
+  | 11 | 3    | ab   | 2024-02-29 | 10

$ step

$ change items
op | id | k    | s    | n          | p     | x    | d          | b
-  | 18 | NULL |      | 3000000000 | -2.25 | 1.5  | 2024-01-01 | true
+  | 18 | 3    | NULL | 3000000000 | -2.25 | 1.5  | 2024-01-01 | true
-  | 5  | NULL |      | 0          | 0.00  | NULL | 2024-01-01 | true
+  | 3  | 2    | ä    | NULL       | NULL  | -2   | NULL       | NULL
+  | 1  | 4    | ä    | NULL       | -2.25 | NULL | 2024-03-15 | false

$ change users
op | id | k | s    | d          | x
-  | 7  | 3 | a    | 2024-03-15 | NULL
+  | 7  | 4 | a    | 2024-03-15 | NULL
-  | 2  | 2 | b    | NULL       | 3.75
+  | 2  | 1 | b    | NULL       | NULL
-  | 20 | 4 | Bc   | 2024-03-15 | 10
+  | 20 | 4 | NULL | 2024-03-15 | 10
-  | 11 | 3 | ab   | 2024-02-29 | 10
+  | 11 | 4 | a    | 2024-02-29 | 10
+  | 8  | 4 | b    | NULL       | 3.75

$ step

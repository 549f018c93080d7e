# A floating number beside a list has the same bits, however many other groups there are.

> CREATE TABLE users (id BIGINT, k INT, s STRING, d DATE, x DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

> CREATE TABLE notes (k INT, s STRING, x DOUBLE, w DOUBLE, d DATE, b BOOLEAN) WITH ('connector' = 'values');

> CREATE VIEW sets AS
  SELECT ARRAY_SORT(COLLECT_LIST(u1.x)) AS c4, SUM(DISTINCT n3.x) FILTER(WHERE n2.b IS NULL) AS c5, SUM(n3.w) AS c6, COVAR_SAMP(u1.k, u1.x) AS c7 FROM users AS u1 CROSS JOIN notes AS n2 JOIN notes AS n3 ON u1.k = n3.k GROUP BY CUBE (n3.s, n3.d, ADD_MONTHS(n2.d, 1));

$ change users
op | id | k | s    | d          | x
+  | 14 | 2 | NULL | 2023-12-31 | 0.25
+  | 8  | 0 | b    | 2024-03-15 | 0
+  | 6  | 3 | ab   | 2024-02-29 | 1.5
+  | 22 | 0 | NULL | 2023-12-31 | 0

$ change notes
op | k    | s    | x    | w    | d          | b
+  | NULL | ab   | 0    | NULL | NULL       | NULL
+  | 2    | a    | 0.25 | -2   | 2024-03-15 | NULL
+  | 4    | a    | 3.75 | NULL | 2024-01-01 | false
+  | 3    | NULL | 1.5  | NULL | 2024-03-15 | false
+  | 3    | NULL | 1.5  | NULL | 2024-03-15 | false
+  | 3    | NULL | 1.5  | 0.25 | NULL       | false
+  | 1    | ab   | NULL | NULL | 2024-03-15 | true
+  | 1    | ab   | NULL | NULL | 2024-03-15 | true
+  | 0    | NULL | 0.25 | -2   | NULL       | false
+  | 0    | ab   | 1.5  | NULL | 2024-01-01 | false
+  | NULL | NULL | -2   | 0    | 2024-02-29 | NULL
+  | NULL | NULL | -2   | 0    | 2024-02-29 | NULL
+  | 4    | a    | 1.5  | -2   | 2023-12-31 | false
+  | 4    | a    | 1.5  | -2   | 2023-12-31 | false
+  | 4    | NULL | 10   | NULL | 2024-02-29 | false
+  | 4    | NULL | 10   | NULL | 2024-02-29 | false
+  | 1    | NULL | NULL | 0.25 | NULL       | NULL
+  | 3    | ab   | 0.25 | 0    | 2024-02-29 | true
+  | 3    | ab   | 0.25 | 0    | 2024-02-29 | true
+  | 3    | Bc   | NULL | 1.5  | NULL       | false
+  | 3    | Bc   | NULL | 1.5  | NULL       | false

$ step

$ change notes
op | k | s    | x    | w    | d          | b
-  | 3 | NULL | 1.5  | NULL | 2024-03-15 | false
-  | 3 | ab   | 0.25 | 0    | 2024-02-29 | true
+  | 1 |      | NULL | 0    | 2024-02-29 | NULL

$ step

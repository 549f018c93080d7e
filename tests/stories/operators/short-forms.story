# Forms that are short for others: PIVOT and UNPIVOT, ANY and ALL, LATERAL, GROUP BY ALL, stars of rows, RANGE.
> CREATE TABLE a (id INT, k INT, s STRING, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (k INT, n INT) WITH ('connector' = 'values');
> CREATE VIEW turned AS SELECT * FROM (SELECT k, s, x FROM a) PIVOT (SUM(x) AS total, COUNT(*) AS n FOR s IN ('p', 'q' AS other));
> CREATE VIEW stacked AS SELECT * FROM a UNPIVOT (v FOR name IN (k, x AS ex));
> CREATE VIEW with_nulls AS
  WITH z AS (SELECT id, k, x FROM a) SELECT u.id, u.name, u.v FROM z UNPIVOT INCLUDE NULLS (v FOR name IN (k, x)) AS u;
> CREATE VIEW above_all AS SELECT a.id FROM a WHERE a.x > ALL (SELECT b.n FROM b WHERE b.k = a.k);
> CREATE VIEW like_any AS SELECT a.id FROM a WHERE a.x = ANY (SELECT b.n FROM b) OR a.x < SOME (SELECT b.k FROM b);
> CREATE VIEW open_answer AS SELECT a.id, a.x = ANY (SELECT b.n FROM b WHERE b.k = a.k) AS found FROM a;
> CREATE VIEW doubled AS SELECT a.id, d.twice FROM a, LATERAL (SELECT a.x * 2 AS twice) d;
> CREATE VIEW pairs AS SELECT a.id, d.n FROM a LEFT JOIN LATERAL (SELECT b.n FROM b WHERE b.k = a.k AND b.n > a.x) d;
> CREATE VIEW largest AS SELECT a.id, d.m FROM a, LATERAL (SELECT MAX(b.n) AS m FROM b WHERE b.k = a.k) d;
> CREATE VIEW by_all AS SELECT a.k, SUM(a.x) AS total FROM a GROUP BY ALL;
> CREATE VIEW unnamed AS SELECT a.id, col FROM a LATERAL VIEW EXPLODE(ARRAY(a.k, a.x));
> CREATE VIEW held AS SELECT id, NAMED_STRUCT('code', k, 'word', s) AS r FROM a;
> CREATE VIEW opened AS SELECT id, H.R.* FROM held AS h WHERE id < 3;
> CREATE VIEW numbers AS SELECT r.id, COUNT(a.id) AS n FROM RANGE(1, 4) AS r LEFT JOIN a ON a.k = r.id GROUP BY r.id;

$ explain turned
turned when a changes: linear

$ explain largest
largest when a changes: key-local
largest when b changes: key-local

$ change a
op | id | k    | s    | x
+  | 1  | 1    | p    | 5
+  | 2  | 1    | q    | 6
+  | 3  | 2    | p    | NULL
+  | 4  | NULL | NULL | 7

$ change b
op | k | n
+  | 1 | 5
+  | 1 | NULL

$ step

$ rows opened
id | code | word
1  | 1    | p
2  | 1    | q

$ rows numbers
id | n
1  | 2
2  | 1
3  | 0

$ rows turned
k    | p_total | p_n  | other_total | other_n
1    | 5       | 1    | 6           | 1
2    | NULL    | 1    | NULL        | NULL
NULL | NULL    | NULL | NULL        | NULL
$ rows stacked
id | s    | name | v
1  | p    | ex   | 5
1  | p    | k    | 1
2  | q    | ex   | 6
2  | q    | k    | 1
3  | p    | k    | 2
4  | NULL | ex   | 7
$ rows with_nulls
id | name | v
1  | k    | 1
1  | x    | 5
2  | k    | 1
2  | x    | 6
3  | k    | 2
3  | x    | NULL
4  | k    | NULL
4  | x    | 7
$ rows above_all
id
3
4
$ rows like_any
id
1
$ rows open_answer
id | found
1  | true
2  | NULL
3  | false
4  | false
$ rows doubled
id | twice
1  | 10
2  | 12
3  | NULL
4  | 14
$ rows pairs
id | n
1  | NULL
2  | NULL
3  | NULL
4  | NULL
$ rows largest
id | m
1  | 5
2  | 5
3  | NULL
4  | NULL
$ rows by_all
k    | total
1    | 11
2    | NULL
NULL | 7
$ rows unnamed
id | col
1  | 1
1  | 5
2  | 1
2  | 6
3  | 2
3  | NULL
4  | 7
4  | NULL

$ change b
op | k | n
-  | 1 | NULL
+  | 1 | 9
+  | 2 | 3

$ change a
op | id | k | s | x
-  | 2  | 1 | q | 6
+  | 2  | 2 | q | 6

$ step

$ changes turned
op | k | p_total | p_n | other_total | other_n
-  | 1 | 5       | 1   | 6           | 1
+  | 1 | 5       | 1   | NULL        | NULL
+  | 2 | NULL    | 1   | 6           | 1
-  | 2 | NULL    | 1   | NULL        | NULL
$ changes above_all
op | id
+  | 2
-  | 3
$ changes open_answer
op | id | found
-  | 2  | NULL
+  | 2  | false
+  | 3  | NULL
-  | 3  | false
$ changes pairs
op | id | n
+  | 1  | 9
-  | 1  | NULL
$ changes largest
op | id | m
-  | 1  | 5
+  | 1  | 9
+  | 2  | 3
-  | 2  | 5
+  | 3  | 3
-  | 3  | NULL

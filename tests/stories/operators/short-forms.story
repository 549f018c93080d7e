# Forms that are short for others: PIVOT and UNPIVOT, ANY and ALL, LATERAL, GROUP BY ALL.
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

$ rows turned
$ rows stacked
$ rows with_nulls
$ rows above_all
$ rows like_any
$ rows open_answer
$ rows doubled
$ rows pairs
$ rows largest
$ rows by_all
$ rows unnamed

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
$ changes above_all
$ changes open_answer
$ changes pairs
$ changes largest

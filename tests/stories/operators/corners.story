# Corners of subqueries and joins in which a shorter form would mean something else.
> CREATE TABLE a (id INT, k INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (k INT, n INT) WITH ('connector' = 'values');
> CREATE TABLE c (id INT, n INT) WITH ('connector' = 'values');
> CREATE VIEW or_zero AS SELECT a.id, (SELECT COALESCE(SUM(b.n), 0) FROM b WHERE b.k = a.k) AS t FROM a;
> CREATE VIEW is_none AS SELECT a.id, (SELECT MAX(b.n) IS NULL FROM b WHERE b.k = a.k) AS t FROM a;
> CREATE VIEW listed AS SELECT a.id, SIZE((SELECT COLLECT_LIST(b.n) FROM b WHERE b.k = a.k)) AS t FROM a;
> CREATE VIEW few AS SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k HAVING COUNT(*) < 2);
> CREATE VIEW as_many AS SELECT a.id FROM a WHERE a.x IN (SELECT COUNT(*) FROM b WHERE b.k = a.k);
> CREATE VIEW counted AS SELECT a.id, (SELECT COUNT(*) FILTER (WHERE b.n > 1) FROM b WHERE b.k = a.k) AS t FROM a;
> CREATE VIEW once AS SELECT a.id, (SELECT DISTINCT b.n FROM b WHERE b.k = a.k AND b.n = 7) AS t FROM a;
> CREATE VIEW largest AS SELECT b.k, b.n FROM b WHERE b.n >= ALL (SELECT b.n FROM b WHERE b.n IS NOT NULL);
> CREATE VIEW above_most AS
  SELECT quantified1.id FROM a AS quantified1 WHERE quantified1.x > ALL (SELECT MAX(b.n) AS x FROM b);
> CREATE VIEW above_some AS SELECT a.id FROM a WHERE a.x > ANY (SELECT b.n FROM b ORDER BY b.n LIMIT 2);
> CREATE VIEW behind_full AS
  SELECT a.id, f.n FROM a JOIN (SELECT b.k AS bk, c.n AS n FROM b FULL JOIN c ON b.k = c.id) f ON a.k = f.n;
> CREATE VIEW guarded AS SELECT a.id, b.n FROM a LEFT JOIN b ON b.n <> 0 AND a.x / b.n > 1;
> CREATE VIEW turned_twice AS SELECT * FROM (SELECT * FROM b) UNPIVOT (v FOR name IN (n)) PIVOT (SUM(v) FOR name IN ('n', 'z'));
> CREATE VIEW one_group AS SELECT 1 AS one FROM a GROUP BY ALL;
> CREATE VIEW first_rows AS SELECT b.n AS o0 FROM b ORDER BY b.k LIMIT 3;

$ change a
op | id | k | x
+  | 1  | 1 | 0
+  | 2  | 2 | 1
+  | 3  | 5 | 9

$ change b
op | k | n
+  | 1 | 7
+  | 1 | 7
+  | 2 | 3

$ change c
op | id | n
+  | 9  | 5

$ step

$ rows or_zero
id | t
1  | 14
2  | 3
3  | 0
$ rows is_none
id | t
1  | false
2  | false
3  | true
$ rows few
id
2
3
$ rows as_many
id
2
$ rows counted
id | t
1  | 2
2  | 1
3  | 0
$ rows largest
k | n
1 | 7
1 | 7
$ rows above_most
id
3
$ rows above_some
id
3
$ rows behind_full
id | n
3  | 5
$ rows turned_twice
k | n  | z
1 | 14 | NULL
2 | 3  | NULL

$ change b
op | k | n
-  | 1 | 7
-  | 1 | 7
+  | 3 | 0
+  | 5 | NULL

$ step

$ rows or_zero
id | t
1  | 0
2  | 3
3  | 0
$ rows few
id
1
2
3
$ rows as_many
id
1
2
$ rows largest
k | n
2 | 3
$ rows guarded
id | n
1  | NULL
2  | NULL
3  | 3

$ change a
op | id | k | x
-  | 1  | 1 | 0
-  | 2  | 2 | 1
-  | 3  | 5 | 9

$ step

$ rows one_group
one

# Which rows a change has to do with: a condition says so only where a row is not there without it.
> CREATE TABLE a (id INT, k INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (k INT, n INT) WITH ('connector' = 'values');
> CREATE TABLE c (k INT, big BIGINT) WITH ('connector' = 'values');
> CREATE VIEW none_or_same AS SELECT a.id, b.n FROM a LEFT JOIN b ON TRUE WHERE b.n IS NULL OR b.n = a.x;
> CREATE VIEW above_window AS
  SELECT q.id, q.n, q.pairs
  FROM (SELECT a.id, a.x, b.n, COUNT(*) OVER (PARTITION BY a.k) AS pairs FROM a CROSS JOIN b) q WHERE q.x = q.n;
> CREATE VIEW next_too AS
  SELECT u.k, b.n FROM (SELECT k FROM a UNION ALL SELECT k + 1 FROM a) u LEFT JOIN b ON b.k = u.k;
> CREATE VIEW either AS SELECT u.k, b.n FROM (SELECT k FROM a UNION ALL SELECT k FROM c) u JOIN b ON b.k = u.k;
> CREATE VIEW either_or_none AS
  SELECT u.k, q.total FROM (SELECT k FROM a UNION ALL SELECT k FROM c) u
  LEFT JOIN (SELECT k, SUM(n) AS total FROM b GROUP BY k) q ON q.k = u.k;
> CREATE VIEW said_of_the_left AS
  SELECT a.id, b.n, c.big FROM a CROSS JOIN b LEFT JOIN c ON a.x = b.n AND c.k = a.k;
> CREATE VIEW by_another_type AS SELECT a.id, COUNT(c.big) AS n FROM a LEFT JOIN c ON c.big = a.x GROUP BY a.id;
> CREATE VIEW the_one AS SELECT a.id, (SELECT b.n FROM b WHERE b.k = a.k) AS n FROM a;
> CREATE VIEW two_windows AS
  SELECT a.id, RANK() OVER (PARTITION BY a.k ORDER BY a.x) AS by_k, COUNT(*) OVER (PARTITION BY a.x) AS by_x FROM a;
> CREATE VIEW either_way AS
  SELECT a.id, b.n FROM a, b WHERE (a.k = b.k AND a.x > 5) OR (b.n = 5 AND a.k = b.k) OR (a.k = b.k AND b.n IS NULL);

$ explain two_windows
two_windows__part1 when a changes: key-local
two_windows when two_windows__part1 changes: key-local

$ change a
op | id | k    | x
+  | 1  | 1    | 5
+  | 2  | 1    | 6
+  | 3  | 2    | 5
+  | 4  | NULL | NULL

$ change b
op | k | n
+  | 1 | 5

$ step

# Nobody asks for key 9, so it may have two rows.
$ change b
op | k | n
-  | 1 | 5
+  | 9 | 1
+  | 9 | 2

$ step

$ change b
op | k | n
-  | 9 | 1
-  | 9 | 2

$ step

$ rows none_or_same
id | n
1  | NULL
2  | NULL
3  | NULL
4  | NULL

$ change c
op | k | big
+  | 1 | 5
+  | 3 | 6

$ change b
op | k | n
+  | 3 | 6
+  | 2 | 5

$ step

$ change a
op | id | k | x
-  | 3  | 2 | 5
+  | 3  | 3 | 6

$ change c
op | k | big
-  | 1 | 5
+  | 2 | 7

$ step

$ rows above_window
id | n | pairs
1  | 5 | 4
2  | 6 | 4
3  | 6 | 2
$ rows next_too
k    | n
1    | NULL
1    | NULL
2    | 5
2    | 5
3    | 6
4    | NULL
NULL | NULL
NULL | NULL
$ rows said_of_the_left
id | n | big
1  | 5 | NULL
1  | 6 | NULL
2  | 5 | NULL
2  | 6 | NULL
3  | 5 | NULL
3  | 6 | 6
4  | 5 | NULL
4  | 6 | NULL
$ rows the_one
id | n
1  | NULL
2  | NULL
3  | 6
4  | NULL

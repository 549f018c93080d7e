# What random queries have found: keys in brackets, shared columns in HAVING, rows made in a select list below an anti
# join, and an aggregate of which only a part is asked for, and the whole is more than Spark can compute.
> CREATE TABLE a (id INT, k INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (id INT, k INT, s STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW bracketed AS
  SELECT s, (ABS(k)) AS k, COUNT(*) AS n FROM a GROUP BY GROUPING SETS ((s, (ABS(k))), ((ABS(k))), ());
> CREATE VIEW shared AS
  SELECT k, COUNT(*) AS rows, MAX(n) AS n FROM a LEFT JOIN b USING (k, s) GROUP BY k
  HAVING MAX(s) > 'p' OR COUNT(*) > (SELECT COUNT(*) FROM b);
> CREATE VIEW made AS
  SELECT q.k, b.n FROM (SELECT k, EXPLODE(ARRAY(1)) AS e FROM a) AS q CROSS JOIN b LEFT ANTI JOIN b AS c ON c.k = b.k AND c.n = 9;
> CREATE VIEW in_part AS
  SELECT q.d, RANK() OVER (PARTITION BY q.d % 2 ORDER BY q.d) AS place
  FROM (
    SELECT k, SUM(DISTINCT id) AS d, COUNT(DISTINCT s) AS e, STRING_AGG(s, '+') WITHIN GROUP (ORDER BY s) AS t FROM a GROUP BY k
  ) AS q;
> CREATE VIEW never_null AS
  SELECT k, STRING_AGG(s, '+') WITHIN GROUP (ORDER BY s) AS t FROM a GROUP BY k
  HAVING COUNT(DISTINCT s, id) FILTER (WHERE k > 0) IS NULL OR COUNT(*) >= (SELECT COUNT(*) FROM b);
> CREATE VIEW twice AS
  WITH w AS (SELECT b.k, b.n FROM b WHERE b.n > 0)
  SELECT a.id, COUNT(*) OVER (ORDER BY a.id) AS so_far FROM a WHERE 1 IN (SELECT 1 FROM w AS x JOIN w AS y ON x.k = y.k);
> CREATE VIEW in_part_once AS
  SELECT DISTINCT q.k
  FROM (SELECT k, SUM(DISTINCT id) AS d, STRING_AGG(s, '+') WITHIN GROUP (ORDER BY s) AS t FROM a GROUP BY CUBE (k)) AS q;
> CREATE VIEW made_beside AS
  SELECT b.n, a.id FROM (SELECT k, EXPLODE(ARRAY(k)) AS e FROM b) AS q JOIN b ON q.e = b.id RIGHT JOIN a ON b.n < a.id * 5;
> CREATE VIEW bracket_asked AS
  SELECT s, GROUPING((ABS(k))) AS is_all, COUNT(*) AS n FROM a GROUP BY GROUPING SETS ((s, (ABS(k))), (s));
> CREATE VIEW called_like_ours AS
  WITH w AS (SELECT t1.id AS c0, t1.k AS c1 FROM a AS t1)
  SELECT x.c0, NTILE(2) OVER (ORDER BY x.c0, y.c0) AS half FROM w AS x LEFT JOIN w AS y ON x.c1 = y.c1 + 2;
> CREATE VIEW in_its_order AS
  SELECT STRING_AGG(s, '+') WITHIN GROUP (ORDER BY s DESC) AS t, SUM(DISTINCT id) AS d, COUNT(DISTINCT id, s) AS e
  FROM (SELECT id, s FROM a UNION SELECT k, s FROM b);

$ explain made
made__part1 when a changes: recompute, because of a function that makes rows in the select list
made when made__part1 changes: key-local
made when b changes: key-local

$ change a
op | id | k  | s
+  | 1  | -1 | p
+  | 2  | 1  | q

$ change b
op | id | k | s | n
+  | 1  | 1 | q | 5

$ step

$ rows in_its_order
t     | d | e
q+q+p | 3 | 3

$ rows never_null
k  | t
-1 | p
1  | q

$ rows in_part_once
k
-1
1
NULL

$ rows made_beside
n    | id
5    | 2
NULL | 1

$ rows bracket_asked
s | is_all | n
p | 0      | 1
p | 1      | 1
q | 0      | 1
q | 1      | 1

$ rows bracketed
s    | k    | n
NULL | 1    | 2
NULL | NULL | 2
p    | 1    | 1
q    | 1    | 1

$ rows shared
k | rows | n
1 | 1    | 5

$ rows called_like_ours
c0 | half
1  | 1
2  | 2

$ rows made
k  | n
-1 | 5
1  | 5

$ rows in_part
d | place
1 | 1
2 | 1

$ change a
op | id | k | s
-  | 2  | 1 | q
+  | 2  | 1 | o
+  | 3  | 2 | q

$ step

$ changes bracketed
op | s    | k    | n
+  | NULL | 2    | 1
-  | NULL | NULL | 2
+  | NULL | NULL | 3
+  | o    | 1    | 1
-  | q    | 1    | 1
+  | q    | 2    | 1

$ changes shared
op | k | rows | n
-  | 1 | 1    | 5
+  | 2 | 1    | NULL

$ changes made
op | k | n
+  | 2 | 5

$ changes in_part
op | d | place
+  | 3 | 2

$ change b
op | id | k | s | n
+  | 2  | 1 | o | 9

$ step

$ changes bracketed
op | s | k | n

$ changes shared
op | k | rows | n

$ changes made
op | k  | n
-  | -1 | 5
-  | 1  | 5
-  | 2  | 5

# Rows of a frame: that equal rows are told apart must not change which of them a frame has.
> CREATE TABLE a (id INT, k INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW whole AS
  SELECT id, SIZE(COLLECT_LIST(id) OVER (PARTITION BY s)) AS n, LAST_VALUE(id) OVER (PARTITION BY s) AS last FROM a;
> CREATE VIEW so_far AS SELECT id, SIZE(COLLECT_LIST(id) OVER (PARTITION BY s ORDER BY k)) AS n FROM a;
> CREATE VIEW near AS
  SELECT id, FIRST_VALUE(k) OVER (PARTITION BY s ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS k FROM a;
> CREATE VIEW both_ends AS
  SELECT id,
    FIRST_VALUE(id) OVER (PARTITION BY s ORDER BY k) AS first,
    LAST_VALUE(id) OVER (PARTITION BY s ORDER BY k RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last
  FROM a;
> CREATE VIEW one_row AS SELECT COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*)) AS r FROM a;
> CREATE VIEW of_groups AS
  SELECT UPPER(s) AS s, ROW_NUMBER() OVER (PARTITION BY MAX(k) ORDER BY COUNT(*)) AS r FROM a GROUP BY UPPER(s);
> CREATE VIEW of_made_rows AS
  SELECT id, t.e, ROW_NUMBER() OVER (PARTITION BY s ORDER BY id) AS r FROM a LATERAL VIEW EXPLODE(ARRAY(k, 9, k)) t AS e;

$ change a
op | id | k | s
+  | 1  | 1 | p
+  | 2  | 1 | p
+  | 3  | 2 | p
+  | 4  | 5 | q
+  | 5  | 5 | r


$ step

$ rows whole
id | n | last
1  | 3 | 3
2  | 3 | 3
3  | 3 | 3
4  | 1 | 4
5  | 1 | 5

$ rows so_far
id | n
1  | 2
2  | 2
3  | 3
4  | 1
5  | 1

$ rows near
id | k
1  | 1
2  | 1
3  | 1
4  | 5
5  | 5

$ rows both_ends
id | first | last
1  | 1     | 3
2  | 1     | 3
3  | 1     | 3
4  | 4     | 4
5  | 5     | 5

$ rows one_row
n | r
5 | 1

$ rows of_groups
s | r
P | 1
Q | 1
R | 2

$ rows of_made_rows
id | e | r
1  | 1 | 1
1  | 1 | 2
1  | 9 | 3
2  | 1 | 4
2  | 1 | 5
2  | 9 | 6
3  | 2 | 7
3  | 2 | 8
3  | 9 | 9
4  | 5 | 1
4  | 5 | 2
4  | 9 | 3
5  | 5 | 1
5  | 5 | 2
5  | 9 | 3

$ change a
op | id | k    | s
-  | 2  | 1    | p
+  | 2  | 2    | p
+  | 6  | NULL | q
+  | 7  | 2    | p
-  | 5  | 5    | r

$ change a
op | id | k | s
-  | 7  | 2 | p
-  | 1  | 1 | p

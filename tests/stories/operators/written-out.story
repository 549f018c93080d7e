# Short forms that mean something else where they stand: stars in calls, new names for columns, names given inside of others.
> CREATE TABLE a (id INT, k INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (k INT, n INT, twice AS n * 2) WITH ('connector' = 'values');
> CREATE VIEW counted AS SELECT COUNT(b.*) AS n, COUNT(DISTINCT b.*) AS d FROM a LEFT JOIN b ON a.k = b.k;
> CREATE VIEW as_json AS SELECT TO_JSON(STRUCT(b.*, a.s AS s)) AS j FROM a JOIN b ON a.k = b.k;
> CREATE VIEW all_as_json AS SELECT TO_JSON(STRUCT(*)) AS j FROM a;
> CREATE VIEW called AS SELECT x.p, x.r FROM b AS x(p, q, r) WHERE x.q > 1;
> CREATE VIEW turned AS SELECT * FROM b PIVOT (SUM(n) FOR k IN (1, 2));
> CREATE VIEW inside AS
  WITH w AS (SELECT id FROM a), v AS (SELECT id FROM w)
  SELECT x.e FROM (WITH w AS (SELECT id + 100 AS id FROM v) SELECT EXPLODE(ARRAY(id)) AS e FROM w) x;
> CREATE VIEW like_a_table AS
  SELECT x.k, b.n FROM (WITH b AS (SELECT k FROM a) SELECT EXPLODE(ARRAY(k)) AS k FROM b) x JOIN b ON b.k = x.k;
> CREATE VIEW of_each AS SELECT id, t.e FROM a, LATERAL (SELECT EXPLODE(ARRAY(k, id)) AS e) t;
> CREATE VIEW of_each_or_none AS
  SELECT id, t.e FROM a LEFT JOIN LATERAL (SELECT EXPLODE(IF(k > 1, ARRAY(k, id), ARRAY())) AS e) t ON TRUE;
> CREATE VIEW ours AS SELECT s AS m1, COUNT(*) AS n FROM a GROUP BY s ORDER BY MIN(id) LIMIT 1;
> CREATE VIEW many AS SELECT id FROM a ORDER BY id LIMIT 2147483647;

$ change a
op | id | k | s
+  | 1  | 1 | q
+  | 2  | 2 | p
+  | 3  | 3 | q

$ change b
op | k | n
+  | 1 | 5
+  | 1 | NULL
+  | 2 | 7

$ step

$ rows counted
n | d
2 | 2

$ rows as_json
j
{"k":1,"n":5,"twice":10,"s":"q"}
{"k":1,"s":"q"}
{"k":2,"n":7,"twice":14,"s":"p"}

$ rows all_as_json
j
{"id":1,"k":1,"s":"q"}
{"id":2,"k":2,"s":"p"}
{"id":3,"k":3,"s":"q"}

$ rows called
p | r
1 | 10
2 | 14

$ rows turned
twice | 1    | 2
10    | 5    | NULL
14    | NULL | 7
NULL  | NULL | NULL

$ rows inside
e
101
102
103

$ rows like_a_table
k | n
1 | 5
1 | NULL
2 | 7

$ rows of_each
id | e
1  | 1
1  | 1
2  | 2
2  | 2
3  | 3
3  | 3

$ rows of_each_or_none
id | e
1  | NULL
2  | 2
2  | 2
3  | 3
3  | 3

$ rows ours
m1 | n
q  | 2

$ rows many
id
1
2
3

$ change a
op | id | k | s
-  | 3  | 3 | q
+  | 4  | 2 | q

$ change b
op | k | n
-  | 2 | 7
+  | 2 | 8
+  | 2 | 8

# Maps have no order. What is looked up in them, or is chosen beside them, is kept all the same.
> CREATE TABLE l (id INT, g INT, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW highest AS SELECT g, MAX(m['a']) AS a, COUNT(DISTINCT m['b']) AS b FROM l GROUP BY g;
> CREATE VIEW newest AS SELECT g, m['a'] AS a FROM (SELECT g, MAX_BY(m, id) AS m FROM l GROUP BY g);
> CREATE VIEW earliest AS SELECT id, m['a'] AS a FROM (SELECT id, m FROM l ORDER BY id LIMIT 2);
> CREATE VIEW alike AS SELECT m, COUNT(*) AS n, SUM(g) AS g FROM l GROUP BY m;
> CREATE VIEW lasts AS SELECT m, MAX(id) AS last FROM l GROUP BY m HAVING SIZE(m) > 1;
> CREATE VIEW placed AS SELECT id, m, RANK() OVER (PARTITION BY g ORDER BY id DESC) AS place FROM l;

$ change l
op | id | g | m
+  | 1  | 1 | {"a": 1, "b": 1}
+  | 2  | 1 | {"a": 3}
+  | 3  | 2 | {"b": 2}

$ step

$ rows highest
g | a    | b
1 | 3    | 1
2 | NULL | 1

$ rows newest
g | a
1 | 3
2 | NULL

$ rows earliest
id | a
1  | 1
2  | 3

$ rows placed
id | m            | place
1  | {a: 1, b: 1} | 2
2  | {a: 3}       | 1
3  | {b: 2}       | 1

$ change l
op | id | g | m
-  | 2  | 1 | {"a": 3}
+  | 4  | 1 | {"a": 2, "b": 5}

$ step

$ changes highest
op | g | a | b
-  | 1 | 3 | 1
+  | 1 | 2 | 2

$ rows newest
g | a
1 | 2
2 | NULL

$ rows earliest
id | a
1  | 1
3  | NULL

$ rows alike
m            | n | g
{a: 1, b: 1} | 1 | 1
{b: 2}       | 1 | 2
{a: 2, b: 5} | 1 | 1

$ change l
op | id | g | m
+  | 5  | 2 | {"b": 5, "a": 2}
+  | 6  | 2 | NULL
-  | 3  | 2 | {"b": 2}

$ step

$ rows alike
m            | n | g
{a: 1, b: 1} | 1 | 1
{a: 2, b: 5} | 2 | 3
NULL         | 1 | 2

$ rows lasts
m            | last
{a: 1, b: 1} | 1
{a: 2, b: 5} | 5

$ rows placed
id | m            | place
1  | {a: 1, b: 1} | 2
4  | {a: 2, b: 5} | 1
5  | {a: 2, b: 5} | 2
6  | NULL         | 1

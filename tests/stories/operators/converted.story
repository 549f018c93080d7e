# Subqueries that are compared with another type: '1' and '01' are the number 1, and each row of l is there once all the same.
> CREATE TABLE l (id INT, i INT, x DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE w (s STRING, b BIGINT) WITH ('connector' = 'values');
> CREATE VIEW counted AS SELECT id, (SELECT COUNT(*) FROM w WHERE w.s = l.i) AS c FROM l;
> CREATE VIEW asked AS SELECT id, i IN (SELECT s FROM w) AS hit FROM l;
> CREATE VIEW either AS SELECT id FROM l WHERE EXISTS (SELECT 1 FROM w WHERE w.b = l.x) OR id = 7;
> CREATE VIEW grouped AS SELECT i, COUNT(*) AS n FROM l GROUP BY i HAVING i IN (SELECT s FROM w) OR COUNT(*) > 5;
> CREATE VIEW alike AS SELECT id, (SELECT MAX(w.b) FROM w WHERE w.s = CAST(l.i AS STRING)) AS b FROM l;
> CREATE VIEW same_texts AS SELECT s, COUNT(*) AS n FROM w GROUP BY s HAVING s IN (SELECT s FROM w) OR COUNT(*) > 5;
> CREATE VIEW same_decimals AS
  SELECT id FROM (SELECT id, CAST(i AS DECIMAL(10,2)) AS p FROM l) q
  WHERE p IN (SELECT CAST(b AS DECIMAL(10,2)) FROM w WHERE b < 100) OR id = 7;
> CREATE VIEW made AS SELECT id, i IN (SELECT REPLACE(s, 'x', '') FROM w) AS hit FROM l;
> CREATE VIEW same_numbers AS SELECT id FROM l WHERE i IN (SELECT b + 1 FROM w WHERE b < 100) OR id = 7;

$ explain made
made when w changes: recompute, because of a subquery that is compared with another type
made when l changes: recompute, because of a subquery that is compared with another type

$ explain same_numbers
same_numbers__part1 when w changes: key-local
same_numbers when l changes: key-local
same_numbers when same_numbers__part1 changes: key-local

$ explain same_texts
same_texts when w changes: key-local

$ explain same_decimals
same_decimals__part1 when w changes: key-local
same_decimals when l changes: key-local
same_decimals when same_decimals__part1 changes: key-local

$ explain counted
counted when w changes: recompute, because of a subquery that is compared with another type
counted when l changes: recompute, because of a subquery that is compared with another type

$ explain alike
alike__part1 when w changes: key-local
alike when l changes: key-local
alike when alike__part1 changes: key-local

$ change l
op | id | i | x
+  | 1  | 1 | 9007199254740992
+  | 2  | 2 | 1

$ change w
op | s  | b
+  | 1  | 9007199254740992
+  | 01 | 9007199254740993

$ step

$ rows counted
id | c
1  | 2
2  | 0

$ rows asked
id | hit
1  | true
2  | false

$ rows made
id | hit
1  | true
2  | false

$ rows either
id
1

$ rows grouped
i | n
1 | 1

$ rows alike
id | b
1  | 9007199254740992
2  | NULL

$ change w
op | s | b
+  | 2 | 1

$ step

$ changes counted
op | id | c
-  | 2  | 0
+  | 2  | 1

$ rows made
id | hit
1  | true
2  | true

$ rows same_numbers
id
2

# Of some first rows is asked whether they stand in another table; that must not change which rows are the first.
> CREATE TABLE items (id INT, d STRING, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

> CREATE TABLE notes (d STRING) WITH ('connector' = 'values');

> CREATE VIEW asked AS
  SELECT f.id, EXISTS (SELECT 1 FROM notes n WHERE n.d = f.d) AS noted
  FROM (SELECT id, d FROM items ORDER BY x DESC, id LIMIT 8 OFFSET 2) f;

> CREATE VIEW made AS
  SELECT f.id, EXISTS (SELECT 1 FROM notes n WHERE n.d = f.d) AS noted, STACK(1, f.id) AS again
  FROM (SELECT id, d FROM items ORDER BY x DESC, id LIMIT 8 OFFSET 2) f;

$ change items
op | id | d | x
+  | 1  | c | 3
+  | 2  | b | 2
+  | 3  | a | 1

$ change notes
op | d
+  | a
+  | c

$ step

$ changes asked
op | id | noted
+  | 3  | true

$ changes made
op | id | noted | again
+  | 3  | true  | 3

$ explain made
made when items changes: recompute, because of a function that makes rows in the select list
made when notes changes: recompute, because of a function that makes rows in the select list

$ change items
op | id | d | x
+  | 4  | d | 9

$ change notes
op | d
-  | a

$ step

$ changes asked
op | id | noted
-  | 3  | true
+  | 2  | false
+  | 3  | false

$ changes made
op | id | noted | again
-  | 3  | true  | 3
+  | 2  | false | 2
+  | 3  | false | 3

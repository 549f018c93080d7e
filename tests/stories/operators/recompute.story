# What no rule maintains is run again and compared: only differences go on, and EXPLAIN says why.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE TABLE people (name STRING, boss STRING) WITH ('connector' = 'values');
> CREATE VIEW ranked AS SELECT id, total, RANK() OVER (ORDER BY total DESC) AS place FROM orders;
> CREATE VIEW above AS SELECT customer FROM (SELECT customer, place FROM ranked LEFT JOIN orders USING (id, total)) WHERE place < 3;
> CREATE VIEW below AS
  WITH RECURSIVE chain AS (
    SELECT name, 0 AS level FROM people WHERE boss IS NULL
    UNION ALL
    SELECT p.name, c.level + 1 AS level FROM people p JOIN chain c ON p.boss = c.name
  ) SELECT name, level FROM chain;
> CREATE VIEW smaller AS SELECT o.id, (SELECT COUNT(*) FROM orders i WHERE i.total < o.total) AS smaller FROM orders o;

$ explain ranked
ranked when orders changes: recompute, because of a window over all rows

$ explain below
below when people changes: recompute, because of a recursive WITH

$ explain smaller
smaller when orders changes: recompute, because of a subquery that is tied to the query around it by more than equalities

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 20
+  | 3  | cat      | 5

$ change people
op | name | boss
+  | ann  | NULL
+  | bob  | ann
+  | cat  | bob

$ step

$ rows below
name | level
ann  | 0
bob  | 1
cat  | 2

$ rows smaller
id | smaller
1  | 1
2  | 2
3  | 0

$ change orders
op | id | customer | total
-  | 3  | cat      | 5
+  | 3  | cat      | 15

$ change people
op | name | boss
+  | bob  | ann
-  | cat  | bob
+  | cat  | NULL

$ step

$ changes ranked
op | id | total | place
-  | 1  | 10    | 2
+  | 1  | 10    | 3
+  | 3  | 15    | 2
-  | 3  | 5     | 3

$ changes above
op | customer
-  | ann
+  | cat

$ changes below
op | name | level
+  | bob  | 1
+  | cat  | 0
-  | cat  | 2

$ changes smaller
op | id | smaller
+  | 1  | 0
-  | 1  | 1
-  | 3  | 0
+  | 3  | 1

# What is equal after the change does not go on.
$ change orders
op | id | customer | total
-  | 2  | bob      | 20
+  | 2  | eve      | 20

$ step

$ changes ranked
op | id | total | place

$ changes above
op | customer
-  | bob
+  | eve

$ changes smaller
op | id | smaller

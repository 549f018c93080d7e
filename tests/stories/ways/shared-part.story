# Views ask for the same totals inside; they are kept once, also when the first of these views goes and another takes its
# name, and all views follow. Others ask for other totals.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW gone AS
  SELECT COUNT(*) AS customers FROM (SELECT customer, SUM(total) AS spent FROM orders GROUP BY customer) AS c
  WHERE c.spent > 0;
> CREATE VIEW often AS
  SELECT c.spent, COUNT(*) AS customers
  FROM (SELECT customer, SUM(total) AS spent FROM orders GROUP BY customer) AS c GROUP BY c.spent;
> CREATE VIEW most AS
  SELECT MAX(c.spent) AS spent FROM (SELECT customer, SUM(total) AS spent FROM orders GROUP BY customer) AS c;
> CREATE VIEW few AS
  SELECT MIN(c.bought) AS bought FROM (SELECT customer, COUNT(*) AS bought FROM orders GROUP BY customer) AS c;
> DROP VIEW gone;
> CREATE VIEW gone AS
  SELECT COUNT(*) AS customers FROM (SELECT customer, MAX(total) AS most FROM orders GROUP BY customer) AS c
  WHERE c.most > 5;

$ explain often
gone__part1 when orders changes: linear
often when gone__part1 changes: linear

$ explain most
gone__part1 when orders changes: linear
most when gone__part1 changes: key-local

$ explain gone
gone__part2 when orders changes: key-local
gone when gone__part2 changes: linear

$ explain few
few__part1 when orders changes: linear
few when few__part1 changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 10
+  | 3  | ann      | 5

$ step

$ rows often
spent | customers
10    | 1
15    | 1

$ change orders
op | id | customer | total
-  | 3  | ann      | 5
+  | 4  | cy       | 7

$ step

$ changes often
op | spent | customers
-  | 10    | 1
-  | 15    | 1
+  | 10    | 2
+  | 7     | 1

$ changes most
op | spent
-  | 15
+  | 10

$ rows few
bought
1

$ rows gone
customers
3

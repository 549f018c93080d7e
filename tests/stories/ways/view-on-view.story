# A view on a view on a view, and a nested aggregate: all of them at one cut.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
> CREATE VIEW rich AS SELECT customer, total FROM totals WHERE total >= 10;
> CREATE VIEW how_many AS SELECT COUNT(*) AS n, MAX(total) AS most FROM rich;
> CREATE VIEW by_total AS
  SELECT total, COUNT(*) AS customers FROM (SELECT customer, SUM(total) AS total FROM orders GROUP BY customer) t GROUP BY total;
> WITH known AS (SELECT customer FROM totals WHERE customer IS NOT NULL)
  SELECT k.customer, r.total FROM known k JOIN rich r ON r.customer = k.customer;

$ explain by_total
by_total__part1 when orders changes: linear
by_total when by_total__part1 changes: linear

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 5
+  | 3  | cat      | 10

$ step

$ rows by_total
total | customers
10    | 2
5     | 1

$ change orders
op | id | customer | total
-  | 1  | ann      | 10
+  | 1  | ann      | 4
+  | 4  | bob      | 7

$ step

$ changes rich
op | customer | total
-  | ann      | 10
+  | bob      | 12

$ rows how_many
n | most
2 | 12

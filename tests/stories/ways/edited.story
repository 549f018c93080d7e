# An edited script on the same state: what is unchanged stays, a new view is filled, a changed one emits its difference.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 5

$ step

> CREATE VIEW counts AS SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer;

$ step

$ rows counts
customer | n
ann      | 1
bob      | 1

$ change orders
op | id | customer | total
+  | 3  | ann      | 1

$ step

$ rows counts
customer | n
ann      | 2
bob      | 1

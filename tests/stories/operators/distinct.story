# A distinct row stays while at least one row stands behind it.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW customers AS SELECT DISTINCT customer FROM orders;
> CREATE VIEW everyone AS SELECT customer FROM orders UNION SELECT 'zoe' FROM orders;

$ explain customers
customers when orders changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 1
+  | 2  | ann      | 2
+  | 3  | NULL     | 2

$ step

$ rows customers
customer
NULL
ann

$ change orders
op | id | customer | total
-  | 1  | ann      | 1

$ step

$ changes customers
op | customer

$ change orders
op | id | customer | total
-  | 2  | ann      | 2

$ step

$ changes customers
op | customer
-  | ann

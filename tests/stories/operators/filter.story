# A row is in a filtered view exactly while the condition is true for it; NULL is not true.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW large AS SELECT id, total FROM orders WHERE total > 10;

$ explain large
large when orders changes: linear

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | bob      | 15
+  | 3  | cat      | NULL

$ step

$ changes large
op | id | total
+  | 2  | 15

# One row enters by an update, one leaves by an update, one leaves by a delete, one turns NULL.
$ change orders
op | id | customer | total
-  | 1  | ann      | 5
+  | 1  | ann      | 50
-  | 2  | bob      | 15
+  | 2  | bob      | NULL
-  | 3  | cat      | NULL

$ step

$ changes large
op | id | total
+  | 1  | 50
-  | 2  | 15

# What no rule maintains is run again and compared: only differences go on, and EXPLAIN says why.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW ranked AS SELECT id, total, RANK() OVER (ORDER BY total DESC) AS place FROM orders;
> CREATE VIEW above AS SELECT customer FROM (SELECT customer, place FROM ranked LEFT JOIN orders USING (id, total)) WHERE place < 3;

$ explain ranked
ranked when orders changes: recompute, because of a window function

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 20
+  | 3  | cat      | 5

$ step

$ change orders
op | id | customer | total
-  | 3  | cat      | 5
+  | 3  | cat      | 15

$ step

$ changes ranked
op | id | total | place
-  | 1  | 10    | 2
+  | 1  | 10    | 3
-  | 3  | 5     | 3
+  | 3  | 15    | 2

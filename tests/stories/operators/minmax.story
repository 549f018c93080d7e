# The smallest and the largest are found anew when they go; other groups are left alone.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW ends AS
  SELECT customer, MIN(total) AS low, MAX(total) AS high, COUNT(DISTINCT total) AS kinds FROM orders GROUP BY customer;
> CREATE VIEW most AS SELECT MAX(total) AS most FROM orders;

$ explain ends
ends when orders changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 1
+  | 2  | ann      | 9
+  | 3  | bob      | 5
+  | 4  | NULL     | 3
+  | 5  | ann      | 9

$ step

$ change orders
op | id | customer | total
-  | 2  | ann      | 9
-  | 4  | NULL     | 3

$ step

$ changes ends
op | customer | low | high | kinds
-  | NULL     | 3   | 3    | 1

$ change orders
op | id | customer | total
-  | 5  | ann      | 9
+  | 6  | bob      | NULL

$ step

$ changes ends
op | customer | low | high | kinds
-  | ann      | 1   | 9    | 2
+  | ann      | 1   | 1    | 1

$ rows most
most
5

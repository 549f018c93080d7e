# A sink holds what the query gives, also after a crash between its write and our progress.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE TABLE report (customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ('connector' = 'values');
> INSERT INTO report SELECT customer, SUM(total) FROM orders WHERE customer IS NOT NULL GROUP BY customer;

$ change orders
op | id | customer | total
+  | 1  | ann      | 10
+  | 2  | bob      | 5
+  | 3  | NULL     | 5

$ step

$ sink report
customer | total
ann      | 10
bob      | 5

$ change orders
op | id | customer | total
-  | 1  | ann      | 10
+  | 1  | bob      | 10

$ crash

$ change orders
op | id | customer | total
+  | 4  | cat      | 1

$ step

$ sink report
customer | total
bob      | 15
cat      | 1

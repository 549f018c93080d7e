# A log without the row before: what was there is looked up; in one batch the last word counts.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;

$ change orders
op | id | customer | total
u  | 1  | ann      | 10
u  | 2  | bob      | 5

$ step

$ change orders
op | id | customer | total
u  | 1  | ann      | 12
u  | 3  | cat      | 1
d  | 3  | NULL     | NULL
d  | 2  | NULL     | NULL
u  | 2  | ann      | 8

$ step

$ changes totals
op | customer | total
-  | ann      | 10
+  | ann      | 20
-  | bob      | 5

# Values that an update did not send are the ones that were there.
$ change orders
op | id | customer | total
u  | 1  | same     | 2
u  | 4  | dan      | 3
u  | 4  | same     | 4

$ step

$ changes totals
op | customer | total
-  | ann      | 20
+  | ann      | 10
+  | dan      | 4

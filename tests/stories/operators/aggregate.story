# Sums, counts and averages follow inserts, updates and deletes; NULL is a group; an emptied group is gone.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, price DOUBLE, fee DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW totals AS
  SELECT customer, SUM(total) AS total, COUNT(*) AS orders, COUNT(total) AS known, AVG(price) AS price,
         SUM(fee) AS fee, SUM(total) FILTER (WHERE total > 10) AS large
  FROM orders GROUP BY customer;
> CREATE VIEW overall AS SELECT COUNT(*) AS orders, SUM(total) AS total FROM orders;
> CREATE VIEW big AS SELECT customer FROM orders GROUP BY customer HAVING SUM(total) > 20;

$ explain totals
totals when orders changes: linear

# A global aggregate has its row before anything came.
$ step

$ rows overall
orders | total
0      | NULL

$ change orders
op | id | customer | total | price | fee
+  | 1  | ann      | 10    | 1.5   | 0.10
+  | 2  | ann      | 20    | 2.5   | 0.20
+  | 3  | NULL     | 7     | NULL  | NULL
+  | 4  | bob      | NULL  | 4.0   | 1.00

$ step

$ rows totals
customer | total | orders | known | price | fee  | large
NULL     | 7     | 1      | 1     | NULL  | NULL | NULL
ann      | 30    | 2      | 2     | 2     | 0.30 | 20
bob      | NULL  | 1      | 0     | 4     | 1.00 | NULL

$ rows big
customer
ann

$ change orders
op | id | customer | total | price | fee
-  | 1  | ann      | 10    | 1.5   | 0.10
+  | 1  | bob      | 10    | 1.5   | 0.10
-  | 3  | NULL     | 7     | NULL  | NULL

$ step

$ changes totals
op | customer | total | orders | known | price | fee  | large
-  | NULL     | 7     | 1      | 1     | NULL  | NULL | NULL
-  | ann      | 30    | 2      | 2     | 2     | 0.30 | 20
+  | ann      | 20    | 1      | 1     | 2.5   | 0.20 | 20
-  | bob      | NULL  | 1      | 0     | 4     | 1.00 | NULL
+  | bob      | 10    | 2      | 1     | 2.75  | 1.10 | NULL

$ changes big
op | customer
-  | ann

# Everything goes: the groups are gone, the global row stays.
$ change orders
op | id | customer | total | price | fee
-  | 1  | bob      | 10    | 1.5   | 0.10
-  | 2  | ann      | 20    | 2.5   | 0.20
-  | 4  | bob      | NULL  | 4.0   | 1.00

$ step

$ rows totals
customer | total | orders | known | price | fee | large

$ rows overall
orders | total
0      | NULL

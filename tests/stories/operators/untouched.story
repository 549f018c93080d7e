# A change that touches no row of a result is over before its sums are asked for.
> CREATE TABLE orders (id INT, customer STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE fees (city STRING, fee INT) WITH ('connector' = 'values');
> CREATE VIEW by_city AS
  SELECT c.city, COUNT(f.fee) AS fees, SUM(f.fee) AS total
  FROM orders o LEFT JOIN customers c ON o.customer = c.name LEFT JOIN fees f ON f.city = c.city
  GROUP BY c.city;

$ change orders
op | id | customer
+  | 1  | ann

$ change customers
op | name | city
+  | ann  | Kiel

$ step

$ change fees
op | city | fee
+  | Ulm  | 7

$ step

$ rows by_city
city | fees | total
Kiel | 0    | NULL

$ change fees
op | city | fee
+  | Kiel | 5
-  | Ulm  | 7

$ step

$ rows by_city
city | fees | total
Kiel | 1    | 5

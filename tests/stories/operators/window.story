# Window functions look at the other rows of their partition: what touches one partition leaves the others alone.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW places AS
  SELECT id, RANK() OVER (PARTITION BY customer ORDER BY total DESC) AS place,
         DENSE_RANK() OVER (PARTITION BY customer ORDER BY total DESC) AS step,
         ROW_NUMBER() OVER (PARTITION BY customer ORDER BY total DESC) AS number
  FROM orders;
> CREATE VIEW beside AS
  SELECT id, LAG(total) OVER (PARTITION BY customer ORDER BY id) AS before,
         LEAD(total, 1, -1) OVER (PARTITION BY customer ORDER BY id) AS after,
         SUM(total) OVER (PARTITION BY customer ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS of_two
  FROM orders;
> CREATE VIEW best AS
  SELECT customer, total FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY total DESC, id) <= 2;
> CREATE VIEW initials AS
  SELECT id, same
  FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY SUBSTRING(customer, 1, 1) ORDER BY id) AS same FROM orders) r WHERE same <= 3;
> CREATE VIEW by_city AS
  SELECT c.city, SUM(o.total) AS total, RANK() OVER (PARTITION BY c.city ORDER BY SUM(o.total) DESC) AS place
  FROM orders o JOIN customers c ON o.customer = c.name GROUP BY c.city, c.name;

$ explain places
places when orders changes: key-local

$ explain best
best when orders changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | ann      | 15
+  | 3  | ann      | 15
+  | 4  | bob      | 7
+  | 5  | NULL     | 1
+  | 6  | NULL     | NULL

$ change customers
op | name | city
+  | ann  | Bonn
+  | bob  | Bonn

$ step

$ rows places
id | place | step | number
1  | 3     | 2    | 3
2  | 1     | 1    | 1
3  | 1     | 1    | 2
4  | 1     | 1    | 1
5  | 1     | 1    | 1
6  | 2     | 2    | 2

$ rows beside
id | before | after | of_two
1  | NULL   | 15    | 5
2  | 5      | 15    | 20
3  | 15     | -1    | 30
4  | NULL   | -1    | 7
5  | NULL   | NULL  | 1
6  | 1      | -1    | 1

$ rows best
customer | total
NULL     | 1
NULL     | NULL
ann      | 15
ann      | 15
bob      | 7

$ rows initials
id | same
1  | 1
2  | 2
3  | 3
4  | 1
5  | 1
6  | 2

$ rows by_city
city | total | place
Bonn | 35    | 1
Bonn | 7     | 2

# An order changes hands, a total comes, a customer comes and one moves; who shares the initial stays the same.
$ change orders
op | id | customer | total
-  | 2  | ann      | 15
+  | 2  | amy      | 15
-  | 6  | NULL     | NULL
+  | 6  | NULL     | 3

$ change customers
op | name | city
+  | amy  | Bonn
-  | bob  | Bonn
+  | bob  | Ulm

$ step

$ changes places
op | id | place | step | number
+  | 1  | 2     | 2    | 2
-  | 1  | 3     | 2    | 3
+  | 3  | 1     | 1    | 1
-  | 3  | 1     | 1    | 2
-  | 5  | 1     | 1    | 1
+  | 5  | 2     | 2    | 2
+  | 6  | 1     | 1    | 1
-  | 6  | 2     | 2    | 2

$ changes beside
op | id | before | after | of_two
-  | 2  | 5      | 15    | 20
+  | 2  | NULL   | -1    | 15
-  | 3  | 15     | -1    | 30
+  | 3  | 5      | -1    | 20
+  | 5  | NULL   | 3     | 1
-  | 5  | NULL   | NULL  | 1
-  | 6  | 1      | -1    | 1
+  | 6  | 1      | -1    | 4

$ changes best
op | customer | total
+  | NULL     | 3
-  | NULL     | NULL
+  | amy      | 15
-  | ann      | 15
+  | ann      | 5

$ changes initials
op | id | same

$ changes by_city
op | city | total | place
+  | Bonn | 15    | 2
+  | Bonn | 20    | 1
-  | Bonn | 35    | 1
-  | Bonn | 7     | 2
+  | Ulm  | 7     | 1

$ change orders
op | id | customer | total
-  | 1  | ann      | 5
-  | 2  | amy      | 15
-  | 3  | ann      | 15
-  | 4  | bob      | 7
-  | 5  | NULL     | 1
-  | 6  | NULL     | 3

$ step

$ rows places
id | place | step | number

$ rows by_city
city | total | place

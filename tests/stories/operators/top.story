# The first rows in an order: one comes in, one is pushed out; one goes, the next moves up.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW largest AS SELECT customer, MAX(total) AS most FROM orders GROUP BY customer ORDER BY most DESC LIMIT 2;
> CREATE VIEW next_page AS SELECT id, total FROM orders ORDER BY total DESC NULLS LAST LIMIT 2 OFFSET 1;
> CREATE VIEW first_totals AS SELECT total FROM orders ORDER BY total LIMIT 3;
> CREATE VIEW cities AS
  SELECT c.city FROM (SELECT customer FROM orders ORDER BY total DESC, id LIMIT 2) o JOIN customers c ON c.name = o.customer;

$ explain largest
largest__part1 when orders changes: key-local
largest when largest__part1 changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | bob      | 15
+  | 3  | cat      | 15
+  | 4  | NULL     | NULL
+  | 5  | ann      | 5

$ change customers
op | name | city
+  | ann  | Bonn
+  | bob  | Kiel
+  | cat  | Ulm

$ step

$ rows largest
customer | most
bob      | 15
cat      | 15

$ rows next_page
id | total
1  | 5
3  | 15

$ rows first_totals
total
5
5
NULL

$ rows cities
city
Kiel
Ulm

# One comes in at the head, two go, a customer moves; the page in the middle stays as it is.
$ change orders
op | id | customer | total
+  | 6  | eve      | 20
-  | 2  | bob      | 15
-  | 5  | ann      | 5

$ change customers
op | name | city
-  | cat  | Ulm
+  | cat  | Jena

$ step

$ changes largest
op | customer | most
-  | bob      | 15
+  | eve      | 20

$ changes next_page
op | id | total

$ changes first_totals
op | total
+  | 15
-  | 5

$ changes cities
op | city
+  | Jena
-  | Kiel
-  | Ulm

$ change orders
op | id | customer | total
-  | 1  | ann      | 5
-  | 3  | cat      | 15
-  | 4  | NULL     | NULL
-  | 6  | eve      | 20

$ step

$ rows largest
customer | most

$ rows first_totals
total

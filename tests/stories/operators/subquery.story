# A subquery that stands for a value follows its rows: the count of nothing is 0, any other value of nothing is NULL.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, since INT) WITH ('connector' = 'values');
> CREATE TABLE cities (customer STRING, city STRING, PRIMARY KEY (customer) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW counted AS
  SELECT c.name, (SELECT COUNT(*) FROM orders o WHERE o.customer = c.name) AS orders,
         (SELECT MAX(o.total) FROM orders o WHERE o.customer = c.name) AS most,
         (SELECT COUNT(*) * 10 + COALESCE(SUM(o.total), -1) FROM orders o WHERE o.customer = c.name) AS score
  FROM customers c;
> CREATE VIEW placed AS SELECT o.id, (SELECT c.city FROM cities c WHERE c.customer = o.customer) AS city FROM orders o;
> CREATE VIEW above_own AS
  SELECT o.id FROM orders o WHERE o.total > (SELECT AVG(i.total) FROM orders i WHERE i.customer = o.customer);
> CREATE VIEW parts AS
  SELECT id, total, (SELECT SUM(total) FROM orders) AS of_all FROM orders WHERE total >= (SELECT AVG(total) FROM orders);
> CREATE VIEW heavy AS
  SELECT customer, SUM(total) AS total FROM orders GROUP BY customer HAVING SUM(total) > (SELECT MAX(total) FROM orders);

$ explain counted
counted when customers changes: key-local
counted when orders changes: key-local

$ explain above_own
above_own when orders changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | ann      | 15
+  | 3  | NULL     | 7
+  | 4  | bob      | NULL

$ change customers
op | name | since
+  | ann  | 1
+  | bob  | 1
+  | cat  | 1
+  | NULL | 1

$ change cities
op | customer | city
+  | ann      | Bonn
+  | bob      | NULL
+  | cat      | Ulm

$ step

$ rows counted
name | orders | most | score
NULL | 0      | NULL | -1
ann  | 2      | 15   | 40
bob  | 1      | NULL | 9
cat  | 0      | NULL | -1

$ rows placed
id | city
1  | Bonn
2  | Bonn
3  | NULL
4  | NULL

$ rows above_own
id
2

$ rows parts
id | total | of_all
2  | 15    | 27

$ rows heavy
customer | total
ann      | 20

# The last order of one goes, the first of another comes, two exchange their totals; a customer comes twice, one leaves.
$ change orders
op | id | customer | total
-  | 4  | bob      | NULL
+  | 5  | cat      | 3
-  | 1  | ann      | 5
+  | 1  | ann      | 15
-  | 2  | ann      | 15
+  | 2  | ann      | 5

$ change customers
op | name | since
+  | eve  | 2
+  | eve  | 2
-  | NULL | 1

$ change cities
op | customer | city
-  | ann      | Bonn

$ step

$ changes counted
op | name | orders | most | score
-  | NULL | 0      | NULL | -1
+  | bob  | 0      | NULL | -1
-  | bob  | 1      | NULL | 9
-  | cat  | 0      | NULL | -1
+  | cat  | 1      | 3    | 13
+  | eve  | 0      | NULL | -1
+  | eve  | 0      | NULL | -1

$ changes placed
op | id | city
-  | 1  | Bonn
+  | 1  | NULL
-  | 2  | Bonn
+  | 2  | NULL
-  | 4  | NULL
+  | 5  | Ulm

$ changes above_own
op | id
+  | 1
-  | 2

$ changes parts
op | id | total | of_all
+  | 1  | 15    | 30
-  | 2  | 15    | 27

$ changes heavy
op | customer | total

$ change orders
op | id | customer | total
-  | 1  | ann      | 15
-  | 2  | ann      | 5
-  | 3  | NULL     | 7
-  | 5  | cat      | 3

$ step

$ rows counted
name | orders | most | score
ann  | 0      | NULL | -1
bob  | 0      | NULL | -1
cat  | 0      | NULL | -1
eve  | 0      | NULL | -1
eve  | 0      | NULL | -1

$ rows parts
id | total | of_all

$ rows heavy
customer | total

# Subtotals and the grand total follow like any other group; a key that is left out is told from one that is NULL.
> CREATE TABLE orders (id INT, customer STRING, kind STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, city STRING, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW rolled AS
  SELECT customer, kind, SUM(total) AS total, COUNT(*) AS orders, GROUPING(kind) AS all_kinds, GROUPING_ID() AS bits
  FROM orders GROUP BY ROLLUP (customer, kind);
> CREATE VIEW cubed AS SELECT customer, kind, COUNT(*) AS n FROM orders GROUP BY CUBE (customer, kind) HAVING COUNT(*) > 1;
> CREATE VIEW ends AS SELECT customer, kind, MIN(total) AS low, MAX(total) AS high FROM orders GROUP BY GROUPING SETS ((customer), (kind), ());
> CREATE VIEW by_city AS
  SELECT c.city, o.kind, AVG(o.total) AS mean FROM orders o JOIN customers c ON c.name = o.customer
  GROUP BY c.city, o.kind WITH ROLLUP;
> CREATE VIEW asked AS
  SELECT customer, kind, COUNT(*) AS n FROM orders GROUP BY ROLLUP (customer, kind) HAVING GROUPING(kind) = 1 AND customer IS NOT NULL;

$ explain rolled
rolled when orders changes: key-local

$ change orders
op | id | customer | kind | total
+  | 1  | ann      | x    | 5
+  | 2  | ann      | y    | 15
+  | 3  | NULL     | x    | 7
+  | 4  | bob      | NULL | NULL

$ change customers
op | name | city
+  | ann  | Bonn
+  | bob  | Bonn

$ step

$ rows rolled
customer | kind | total | orders | all_kinds | bits
NULL     | NULL | 27    | 4      | 1         | 3
NULL     | NULL | 7     | 1      | 1         | 1
NULL     | x    | 7     | 1      | 0         | 0
ann      | NULL | 20    | 2      | 1         | 1
ann      | x    | 5     | 1      | 0         | 0
ann      | y    | 15    | 1      | 0         | 0
bob      | NULL | NULL  | 1      | 0         | 0
bob      | NULL | NULL  | 1      | 1         | 1

$ rows cubed
customer | kind | n
NULL     | NULL | 4
NULL     | x    | 2
ann      | NULL | 2

$ rows ends
customer | kind | low  | high
NULL     | NULL | 5    | 15
NULL     | NULL | 7    | 7
NULL     | NULL | NULL | NULL
NULL     | x    | 5    | 7
NULL     | y    | 15   | 15
ann      | NULL | 5    | 15
bob      | NULL | NULL | NULL

$ rows by_city
city | kind | mean
Bonn | NULL | 10
Bonn | NULL | NULL
Bonn | x    | 5
Bonn | y    | 15
NULL | NULL | 10

# An order changes hands within a city, one of nobody goes: the groups of every set are touched, those of the city stay the same.
$ change orders
op | id | customer | kind | total
-  | 2  | ann      | y    | 15
+  | 2  | bob      | y    | 15
-  | 3  | NULL     | x    | 7

$ change customers
op | name | city
+  | cat  | Ulm

$ step

$ changes rolled
op | customer | kind | total | orders | all_kinds | bits
+  | NULL     | NULL | 20    | 3      | 1         | 3
-  | NULL     | NULL | 27    | 4      | 1         | 3
-  | NULL     | NULL | 7     | 1      | 1         | 1
-  | NULL     | x    | 7     | 1      | 0         | 0
-  | ann      | NULL | 20    | 2      | 1         | 1
+  | ann      | NULL | 5     | 1      | 1         | 1
-  | ann      | y    | 15    | 1      | 0         | 0
+  | bob      | NULL | 15    | 2      | 1         | 1
-  | bob      | NULL | NULL  | 1      | 1         | 1
+  | bob      | y    | 15    | 1      | 0         | 0

$ changes cubed
op | customer | kind | n
+  | NULL     | NULL | 3
-  | NULL     | NULL | 4
-  | NULL     | x    | 2
-  | ann      | NULL | 2
+  | bob      | NULL | 2

$ changes ends
op | customer | kind | low  | high
-  | NULL     | NULL | 7    | 7
+  | NULL     | x    | 5    | 5
-  | NULL     | x    | 5    | 7
-  | ann      | NULL | 5    | 15
+  | ann      | NULL | 5    | 5
+  | bob      | NULL | 15   | 15
-  | bob      | NULL | NULL | NULL

$ changes by_city
op | city | kind | mean

# Of nothing there is no grand total either.
$ change orders
op | id | customer | kind | total
-  | 1  | ann      | x    | 5
-  | 2  | bob      | y    | 15
-  | 4  | bob      | NULL | NULL

$ step

$ rows rolled
customer | kind | total | orders | all_kinds | bits

$ rows ends
customer | kind | low | high

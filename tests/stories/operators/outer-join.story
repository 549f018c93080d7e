# An outer join keeps the rows that meet nothing: NULL stands beside them until something comes that they meet.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE customers (name STRING, city STRING, least INT) WITH ('connector' = 'values');
> CREATE VIEW enough AS
  SELECT o.id, c.city FROM orders o LEFT JOIN customers c ON o.customer = c.name AND o.total >= c.least AND o.id < 10;
> CREATE VIEW buyers AS SELECT c.name, o.id FROM orders o RIGHT JOIN customers c ON o.customer = c.name;
> CREATE VIEW everyone AS
  SELECT name, o.id, c.city FROM (SELECT id, customer AS name FROM orders) o FULL JOIN customers c USING (name);
> CREATE VIEW per_city AS
  SELECT c.city, COUNT(o.id) AS orders, SUM(o.total) AS total
  FROM customers c LEFT JOIN orders o ON o.customer = c.name GROUP BY c.city;
> CREATE VIEW above AS SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.total > c.least;

$ explain enough
enough when orders changes: key-local
enough when customers changes: key-local

$ explain everyone
everyone when orders changes: key-local
everyone when customers changes: key-local

$ explain above
above when orders changes: key-local
above when customers changes: key-local

# An order of nobody, a customer without a name, a customer twice.
$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | bob      | 15
+  | 3  | NULL     | 7
+  | 4  | eve      | 9

$ change customers
op | name | city | least
+  | ann  | Bonn | 3
+  | ann  | Bonn | 3
+  | NULL | Kiel | 1
+  | cat  | Ulm  | 8

$ step

$ rows enough
id | city
1  | Bonn
1  | Bonn
2  | NULL
3  | NULL
4  | NULL

$ rows buyers
name | id
NULL | NULL
ann  | 1
ann  | 1
cat  | NULL

$ rows everyone
name | id   | city
NULL | 3    | NULL
NULL | NULL | Kiel
ann  | 1    | Bonn
ann  | 1    | Bonn
bob  | 2    | NULL
cat  | NULL | Ulm
eve  | 4    | NULL

$ rows per_city
city | orders | total
Bonn | 2      | 10
Kiel | 0      | NULL
Ulm  | 0      | NULL

$ rows above
id | name
1  | NULL
1  | ann
1  | ann
2  | NULL
2  | ann
2  | ann
2  | cat
3  | NULL
3  | ann
3  | ann
4  | NULL
4  | ann
4  | ann
4  | cat

# Two orders start to match, one is not enough any more, one loses one of two matches; the total of another decides nothing.
$ change orders
op | id | customer | total
-  | 1  | ann      | 5
+  | 1  | ann      | 2
-  | 3  | NULL     | 7
+  | 3  | NULL     | 6
-  | 4  | eve      | 9
+  | 4  | cat      | 9

$ change customers
op | name | city | least
-  | ann  | Bonn | 3
+  | bob  | Kiel | 15

$ step

$ changes enough
op | id | city
-  | 1  | Bonn
-  | 1  | Bonn
+  | 1  | NULL
+  | 2  | Kiel
-  | 2  | NULL
-  | 4  | NULL
+  | 4  | Ulm

$ changes buyers
op | name | id
-  | ann  | 1
+  | bob  | 2
+  | cat  | 4
-  | cat  | NULL

$ changes everyone
op | name | id   | city
-  | ann  | 1    | Bonn
+  | bob  | 2    | Kiel
-  | bob  | 2    | NULL
+  | cat  | 4    | Ulm
-  | cat  | NULL | Ulm
-  | eve  | 4    | NULL

$ changes per_city
op | city | orders | total
+  | Bonn | 1      | 2
-  | Bonn | 2      | 10
-  | Kiel | 0      | NULL
+  | Kiel | 1      | 15
-  | Ulm  | 0      | NULL
+  | Ulm  | 1      | 9

$ changes above
op | id | name
-  | 1  | ann
-  | 1  | ann
-  | 2  | ann
-  | 3  | ann
-  | 4  | ann

# All customers go.
$ change customers
op | name | city | least
-  | ann  | Bonn | 3
-  | NULL | Kiel | 1
-  | cat  | Ulm  | 8
-  | bob  | Kiel | 15

$ step

$ rows enough
id | city
1  | NULL
2  | NULL
3  | NULL
4  | NULL

$ rows buyers
name | id

$ rows everyone
name | id | city
NULL | 3  | NULL
ann  | 1  | NULL
bob  | 2  | NULL
cat  | 4  | NULL

$ rows per_city
city | orders | total

$ rows above
id | name
1  | NULL
2  | NULL
3  | NULL
4  | NULL

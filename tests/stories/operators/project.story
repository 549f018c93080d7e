# Expressions, computed columns and rows that become equal: a projection keeps every copy.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, doubled AS total * 2, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW names AS SELECT UPPER(customer) || '!' AS name, doubled + 1 AS more FROM orders;

$ explain names
names when orders changes: linear

$ change orders
op | id | customer | total
+  | 1  | ann      | 1
+  | 2  | Ann      | 1
+  | 3  | NULL     | 7

$ step

$ rows names
name | more
ANN! | 3
ANN! | 3
NULL | 15

$ change orders
op | id | customer | total
-  | 1  | ann      | 1

$ step

$ changes names
op | name | more
-  | ANN! | 3

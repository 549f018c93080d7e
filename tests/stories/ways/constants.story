# VALUES are rows like others: alone, beside a table, and sent to a sink.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE TABLE names (name STRING, letter STRING) WITH ('connector' = 'values');
> CREATE VIEW letters AS SELECT * FROM (VALUES ('ann', 'a'), ('bob', 'b')) AS v(name, letter);
> CREATE VIEW known AS SELECT o.id, l.letter FROM orders o JOIN letters l ON o.customer = l.name;
> INSERT INTO names VALUES ('cat', 'c');

$ step

$ rows letters
name | letter
ann  | a
bob  | b

$ sink names
name | letter
cat  | c

$ change orders
op | id | customer | total
+  | 1  | bob      | 5
+  | 2  | cat      | 7

$ step

$ changes known
op | id | letter
+  | 1  | b

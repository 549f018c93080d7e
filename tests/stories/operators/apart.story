# Suppliers are few and parts are many: what is asked of the stock of a supplier falls apart by part, and is kept by itself.
# So it is where that reads one recomputed query twice.
> CREATE TABLE suppliers (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE parts (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE stock (part INT, supplier INT, pieces INT, PRIMARY KEY (part, supplier) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE orders (id INT, part INT, supplier INT, pieces INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW rich AS
  SELECT name FROM suppliers
  WHERE id IN (
    SELECT supplier FROM stock
    WHERE part IN (SELECT id FROM parts WHERE name LIKE 'f%')
      AND pieces > (SELECT 2 * SUM(pieces) FROM orders WHERE orders.part = stock.part AND orders.supplier = stock.supplier)
  );
> CREATE VIEW both AS
  WITH letters AS (SELECT id, EXPLODE(SPLIT(name, '')) AS letter FROM parts)
  SELECT name FROM suppliers
  WHERE id IN (
    SELECT s.supplier FROM stock AS s JOIN letters AS a ON a.id = s.part JOIN letters AS b ON b.id = s.part
    WHERE a.letter = 'f' AND b.letter = 'k' GROUP BY s.supplier, s.part
  );

$ explain rich
rich__part1 when stock changes: key-local
rich__part1 when parts changes: key-local
rich__part1 when orders changes: key-local
rich when suppliers changes: key-local
rich when rich__part1 changes: key-local

$ change suppliers
op | id | name
+  | 1  | ann
+  | 2  | bob

$ change parts
op | id | name
+  | 1  | frame
+  | 2  | wheel
+  | 3  | fork

$ change stock
op | part | supplier | pieces
+  | 1    | 1        | 10
+  | 3    | 1        | 10
+  | 2    | 2        | 99
+  | 3    | 2        | 5

$ change orders
op | id | part | supplier | pieces
+  | 1  | 1    | 1        | 2
+  | 2  | 3    | 1        | 9
+  | 3  | 2    | 2        | 1

$ step

$ rows rich
name
ann

$ rows both
name
ann
bob

$ change orders
op | id | part | supplier | pieces
+  | 4  | 1    | 1        | 3
+  | 5  | 3    | 2        | 2

$ step

$ changes rich
op | name
-  | ann
+  | bob

$ change parts
op | id | name
-  | 3  | fork
+  | 3  | tube

$ change orders
op | id | part | supplier | pieces
-  | 1  | 1    | 1        | 2

$ step

$ changes rich
op | name
-  | bob
+  | ann

$ rows both
name

# A value from another query is compared with rows and shown nowhere: only rows to which it says something else than before
# are touched, also two of one customer of which one comes and one goes. Who is not in the list is not looked at.
> CREATE TABLE rows (id INT, customer INT, amount INT, kind STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE limits (id INT, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE barred (id INT, customer INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW above AS
  SELECT kind, COUNT(*) AS n, SUM(amount) AS total FROM rows
  WHERE kind IN ('a', 'b') AND amount > (SELECT MAX(amount) FROM limits)
    AND NOT EXISTS (SELECT 1 FROM barred WHERE barred.customer = rows.customer)
  GROUP BY kind;
> CREATE VIEW exact AS
  SELECT customer, amount FROM rows
  WHERE amount = (SELECT MAX(amount) FROM limits)
    AND NOT EXISTS (SELECT 1 FROM barred WHERE barred.customer = rows.customer);
> CREATE VIEW shown AS
  SELECT customer, top.most - amount AS missing
  FROM rows JOIN (SELECT MAX(amount) AS most FROM limits) AS top ON rows.amount < top.most
  WHERE NOT EXISTS (SELECT 1 FROM barred WHERE barred.customer = rows.customer);
> CREATE VIEW copies AS
  SELECT customer, rows.amount FROM rows JOIN limits ON rows.amount >= limits.amount
  WHERE NOT EXISTS (SELECT 1 FROM barred WHERE barred.customer = rows.customer);

$ change rows
op | id | customer | amount | kind
+  | 1  | 1        | 5      | a
+  | 2  | 1        | 7      | a
+  | 3  | 2        | 5      | b
+  | 4  | 3        | 9      | c
+  | 5  | 4        | NULL   | a
+  | 6  | 5        | 8      | b

$ change limits
op | id | amount
+  | 1  | 5

$ change barred
op | id | customer
+  | 1  | 5

$ step

$ rows above
kind | n | total
a    | 1 | 7

$ rows exact
customer | amount
1        | 5
2        | 5

$ change limits
op | id | amount
+  | 2  | 7

$ step

$ changes above
op | kind | n | total
-  | a    | 1 | 7

$ changes exact
op | customer | amount
-  | 1        | 5
-  | 2        | 5
+  | 1        | 7

$ changes shown
op | customer | missing
+  | 1        | 2
+  | 2        | 2

$ changes copies
op | customer | amount
+  | 1        | 7
+  | 3        | 9

$ change limits
op | id | amount
-  | 2  | 7
+  | 3  | 6

$ change barred
op | id | customer
-  | 1  | 5

$ change rows
op | id | customer | amount | kind
-  | 2  | 1        | 7      | a
+  | 2  | 1        | 6      | b

$ step

$ rows above
kind | n | total
b    | 1 | 8

$ changes exact
op | customer | amount
-  | 1        | 7
+  | 1        | 6

$ rows shown
customer | missing
1        | 1
2        | 1

$ rows copies
customer | amount
1        | 5
1        | 6
1        | 6
2        | 5
3        | 9
3        | 9
5        | 8
5        | 8

$ change limits
op | id | amount
-  | 1  | 5
-  | 3  | 6

$ step

$ rows exact
customer | amount

$ rows copies
customer | amount

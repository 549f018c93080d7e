# Types that do not fit, columns that do not match, two rows for one key.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE TABLE report (customer STRING, total BIGINT, PRIMARY KEY (customer) NOT ENFORCED) WITH ('connector' = 'values');

! INSERT INTO report SELECT id, total FROM orders;
error: column "customer" of "report" is string, the query gives int
detail: The value comes from the query's column "id".
hint: Write CAST(id AS STRING) in the query.

! INSERT INTO report SELECT customer FROM orders;
error: the query has 1 columns, "report" takes 2
detail: The query gives customer; the table takes customer, total.
hint: Columns go by position: select as many as the table has.

! INSERT INTO nowhere SELECT customer, total FROM orders;
error: table "nowhere" does not exist
detail: The tables and views are orders, report.
hint: Declare it with CREATE TABLE or CREATE VIEW first.

> INSERT INTO report SELECT customer, total FROM orders;

$ change orders
op | id | customer | total
+  | 1  | ann      | 10

$ step

$ change orders
op | id | customer | total
+  | 2  | ann      | 5

$ step
error: 2 result rows want the key customer = ann of "report"
detail: The table's PRIMARY KEY is (customer), and the query yields several rows for it.
hint: Group by the key in the query, or declare a key that tells the rows apart.

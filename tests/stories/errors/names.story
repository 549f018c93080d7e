# Unknown names say what is near.
> CREATE TABLE orders (
    id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW totals AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;

! SELECT nope FROM totals;
error: column "nope" does not exist in view "totals"
hint: The columns are customer, total.

! SELECT custmer FROM orders;
error: column "custmer" does not exist in table "orders"
detail: The columns are id, customer, total.
hint: Did you mean "customer"?

! SELECT * FROM oders;
error: table "oders" does not exist
detail: The tables and views are orders, totals.
hint: Did you mean "orders"?

! SELECT a.id FROM orders a JOIN orders b ON a.id = b.id WHERE total > 1;
error: column "total" is ambiguous
detail: It is a column of a and of b.
hint: Write a.total or b.total.

! SELECT SUMM(total) FROM orders;
error: function SUMM does not exist
hint: Did you mean 'sum'?

! CREATE VIEW totals AS SELECT 1 AS one FROM orders;
error: "totals" is declared twice
hint: Give one of the two another name, or DROP the first.

! CREATE VIEW twice AS SELECT id, id FROM orders;
error: the view has two columns named "id"
hint: Rename one with AS: SELECT ... AS id_2.

! SELECT id, random() FROM orders;
error: rand gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT customer, id, SUM(total) FROM orders GROUP BY customer;
error: a selected column is neither grouped nor aggregated
detail: The non-aggregating expression "id" is based on columns which are not participating in the GROUP BY clause.
hint: Add it to GROUP BY, or put it into an aggregate such as MAX(...).

! CREATE TABLE stamped (id INT, ts AS now()) WITH ('connector' = 'values');
error: now gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT * FROM orders TABLESAMPLE (1 ROWS);
error: tablesample gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! CREATE VIEW spans AS SELECT id, TIMESTAMP '2024-01-02 00:00:00' - TIMESTAMP '2024-01-01 00:00:00' AS span FROM orders;
error: column "span" is of type interval day to second, which cannot be kept
hint: CAST it in the query, for example to STRING: CAST(... AS STRING) AS span.

! SELECT CAST(iv AS STRING) AS s FROM (SELECT DISTINCT DATE '2024-01-02' - CAST(customer AS DATE) AS iv FROM orders) q;
error: a value of type interval day has to be kept inside of the query, which cannot be done
hint: CAST it where it is made, for example to STRING.

! SELECT id FROM orders ORDER BY CAST(customer AS DATE) - DATE '2024-01-01', id LIMIT 3;
error: a value of type interval day has to be kept inside of the query, which cannot be done
hint: CAST it where it is made, for example to STRING.

# Statements without a name get one that nobody else has.
> CREATE TABLE query_1 (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE kept (n BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'values');
> SELECT COUNT(*) AS n FROM query_1;
> INSERT INTO kept SELECT COUNT(*) FROM query_1;

$ change query_1
op | id
+  | 1
+  | 2

$ step

$ rows query_2
n
2

! CREATE VIEW query_2 AS SELECT id FROM query_1;
error: "query_2" is the name of a statement above
detail: A SELECT is kept as query_1, query_2 and so on, an INSERT as insert_ and its table.
hint: Give it another name, or declare it before that statement.

! CREATE VIEW insert_kept AS SELECT id FROM query_1;
error: "insert_kept" is the name of a statement above
detail: A SELECT is kept as query_1, query_2 and so on, an INSERT as insert_ and its table.
hint: Give it another name, or declare it before that statement.

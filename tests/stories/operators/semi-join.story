# EXISTS and IN let a row through while it has a match, NOT EXISTS and NOT IN while it has none; NULL leaves NOT IN unsure.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE blocked (name STRING, most INT) WITH ('connector' = 'values');
> CREATE VIEW joined AS
  SELECT o.customer FROM orders o LEFT SEMI JOIN blocked b ON o.customer = b.name
  UNION ALL
  SELECT UPPER(o.customer) FROM orders o LEFT ANTI JOIN blocked b ON o.customer = b.name;
> CREATE VIEW listed AS
  SELECT id FROM orders o
  WHERE customer IN (SELECT name FROM blocked) AND EXISTS (SELECT 1 FROM blocked b WHERE b.name = o.customer AND b.most < o.total);
> CREATE VIEW allowed AS
  SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM blocked b WHERE b.name = o.customer AND o.total > b.most);
> CREATE VIEW unlisted AS SELECT id FROM orders WHERE customer NOT IN (SELECT name FROM blocked);
> CREATE VIEW own_unlisted AS
  SELECT id FROM orders o WHERE o.total NOT IN (SELECT b.most FROM blocked b WHERE b.name = o.customer);
> CREATE VIEW either AS SELECT id FROM orders WHERE total > 20 OR customer NOT IN (SELECT name FROM blocked);
> CREATE VIEW told AS
  SELECT id, customer IN (SELECT name FROM blocked) AS blocked, EXISTS (SELECT 1 FROM blocked b WHERE b.most = o.total) AS full
  FROM orders o;

$ explain allowed
allowed when orders changes: key-local
allowed when blocked changes: key-local

$ explain told
told__part1 when blocked changes: key-local
told when orders changes: key-local
told when told__part1 changes: key-local
told when blocked changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | bob      | 15
+  | 3  | NULL     | 7
+  | 4  | ann      | 30

$ change blocked
op | name | most
+  | ann  | 10
+  | ann  | 10
+  | cat  | 7

$ step

$ rows joined
customer
BOB
NULL
ann
ann

$ rows listed
id
4

$ rows allowed
id
1
2
3

$ rows unlisted
id
2

$ rows own_unlisted
id
1
2
3
4

$ rows either
id
2
4

$ rows told
id | blocked | full
1  | true    | false
2  | false   | false
3  | false   | true
4  | true    | false

# One of two equal rows goes and moves nothing. A NULL comes: nothing is surely not in the list any more.
$ change blocked
op | name | most
-  | ann  | 10
+  | NULL | 7

$ step

$ changes joined
op | customer

$ changes listed
op | id

$ changes unlisted
op | id
-  | 2

$ changes own_unlisted
op | id

$ changes told
op | id | blocked | full

# The NULL goes, ann is free, bob is blocked and buys again, all in one batch.
$ change blocked
op | name | most
-  | ann  | 10
-  | NULL | 7
+  | bob  | 15

$ change orders
op | id | customer | total
+  | 5  | bob      | 15
-  | 4  | ann      | 30
+  | 4  | ann      | 7

$ step

$ changes joined
op | customer
+  | ANN
+  | ANN
-  | BOB
-  | ann
-  | ann
+  | bob
+  | bob

$ changes allowed
op | id
+  | 4
+  | 5

$ changes unlisted
op | id
+  | 1
+  | 4

$ changes own_unlisted
op | id
-  | 2

$ changes either
op | id
+  | 1

$ changes told
op | id | blocked | full
+  | 1  | false   | false
-  | 1  | true    | false
-  | 2  | false   | false
+  | 2  | true    | true
+  | 4  | false   | true
-  | 4  | true    | false
+  | 5  | true    | true

# The list is empty: even NULL is not in it.
$ change blocked
op | name | most
-  | bob  | 15
-  | cat  | 7

$ step

$ rows joined
customer
ANN
ANN
BOB
BOB
NULL

$ rows unlisted
id
1
2
3
4
5

$ rows own_unlisted
id
1
2
3
4
5

$ rows told
id | blocked | full
1  | false   | false
2  | false   | false
3  | false   | false
4  | false   | false
5  | false   | false

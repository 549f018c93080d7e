# EXISTS and IN let a row through while it has a match, NOT EXISTS and NOT IN while it has none; NULL leaves NOT IN unsure.
> CREATE TABLE orders (id INT, customer STRING, total INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE blocked (name STRING, most INT) WITH ('connector' = 'values');
> CREATE VIEW joined AS
  SELECT o.customer FROM orders o LEFT SEMI JOIN blocked b ON o.customer = b.name
  UNION ALL
  SELECT UPPER(o.customer) FROM orders o LEFT ANTI JOIN blocked b ON o.customer = b.name;
> CREATE VIEW allowed AS
  SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM blocked b WHERE b.name = o.customer AND o.total > b.most);
> CREATE VIEW unlisted AS SELECT id FROM orders WHERE customer NOT IN (SELECT name FROM blocked);
> CREATE VIEW own_unlisted AS
  SELECT id FROM orders o
  WHERE o.total NOT IN (SELECT b.most FROM blocked b WHERE b.name = o.customer) AND o.id IN (SELECT i.id FROM orders i WHERE i.total > 0);
> CREATE VIEW told AS
  SELECT id, customer IN (SELECT name FROM blocked) AS is_in, EXISTS (SELECT 1 FROM blocked b WHERE b.most = o.total) AS is_there
  FROM orders o WHERE total < 20 OR customer NOT IN (SELECT name FROM blocked);

$ explain allowed
allowed when orders changes: key-local
allowed when blocked changes: key-local

$ explain own_unlisted
own_unlisted when orders changes: key-local
own_unlisted when blocked changes: key-local

$ change orders
op | id | customer | total
+  | 1  | ann      | 5
+  | 2  | bob      | 15
+  | 3  | NULL     | 7
+  | 4  | ann      | 30
+  | 5  | eve      | 40

$ change blocked
op | name | most
+  | ann  | 10
+  | ann  | 10
+  | cat  | 7

$ step

$ rows joined
customer
BOB
EVE
NULL
ann
ann

$ rows allowed
id
1
2
3
5

$ rows unlisted
id
2
5

$ rows own_unlisted
id
1
2
3
4
5

$ rows told
id | is_in | is_there
1  | true  | false
2  | false | false
3  | false | true
5  | false | false

# One of two equal rows goes and moves nothing, bob is blocked and buys again. A NULL comes: nothing is surely not in the list now.
$ change blocked
op | name | most
-  | ann  | 10
+  | bob  | 15
+  | NULL | 7

$ change orders
op | id | customer | total
+  | 6  | bob      | 18

$ step

$ changes joined
op | customer
-  | BOB
+  | bob
+  | bob

$ changes allowed
op | id

$ changes unlisted
op | id
-  | 2
-  | 5

$ changes own_unlisted
op | id
-  | 2
+  | 6

$ changes told
op | id | is_in | is_there
-  | 2  | false | false
+  | 2  | true  | true
-  | 5  | false | false
+  | 6  | true  | false

# The list is empty: even NULL is not in it.
$ change blocked
op | name | most
-  | ann  | 10
-  | bob  | 15
-  | cat  | 7
-  | NULL | 7

$ step

$ rows joined
customer
ANN
ANN
BOB
BOB
EVE
NULL

$ rows allowed
id
1
2
3
4
5
6

$ rows unlisted
id
1
2
3
4
5
6

$ rows own_unlisted
id
1
2
3
4
5
6

$ rows told
id | is_in | is_there
1  | false | false
2  | false | false
3  | false | false
4  | false | false
5  | false | false
6  | false | false

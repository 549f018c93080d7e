# INTERSECT and EXCEPT compare whole rows, and NULL is the same as NULL; with ALL they count copies.
> CREATE TABLE a (id INT, name STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE b (name STRING, city STRING) WITH ('connector' = 'values');
> CREATE VIEW common AS SELECT name, city FROM a INTERSECT SELECT name, city FROM b;
> CREATE VIEW common_copies AS SELECT name FROM a INTERSECT ALL SELECT name FROM b;
> CREATE VIEW more_in_a AS SELECT name FROM a EXCEPT ALL SELECT name FROM b;
> CREATE VIEW either AS SELECT name FROM a UNION SELECT name FROM b;
> CREATE VIEW upper_only AS SELECT UPPER(name) AS name FROM b EXCEPT SELECT UPPER(name) FROM a WHERE city IS NOT NULL;
> CREATE VIEW how_many AS
  SELECT city, COUNT(*) AS n FROM (SELECT name, city FROM a EXCEPT SELECT name, city FROM b) c GROUP BY city;

$ explain common
common when a changes: key-local
common when b changes: key-local

$ explain more_in_a
more_in_a when a changes: key-local
more_in_a when b changes: key-local

$ explain either
either when a changes: key-local
either when b changes: key-local

$ change a
op | id | name | city
+  | 1  | ann  | Bonn
+  | 2  | ann  | Bonn
+  | 3  | ann  | Ulm
+  | 4  | NULL | NULL
+  | 5  | eve  | Kiel
+  | 6  | eve  | Kiel

$ change b
op | name | city
+  | ann  | Bonn
+  | bob  | Kiel
+  | bob  | Kiel
+  | NULL | NULL

$ step

$ rows common
name | city
NULL | NULL
ann  | Bonn

$ rows common_copies
name
NULL
ann

$ rows more_in_a
name
ann
ann
eve
eve

$ rows either
name
NULL
ann
bob
eve

$ rows upper_only
name
BOB
NULL

$ rows how_many
city | n
Kiel | 1
Ulm  | 1

# The last common copy of one row goes, another row starts to be common, a third changes sides; of two copies one goes.
$ change a
op | id | name | city
-  | 3  | ann  | Ulm
+  | 3  | bob  | Kiel
-  | 4  | NULL | NULL
-  | 6  | eve  | Kiel

$ change b
op | name | city
-  | ann  | Bonn
+  | ann  | Ulm

$ step

$ changes common
op | name | city
-  | NULL | NULL
-  | ann  | Bonn
+  | bob  | Kiel

$ changes common_copies
op | name
-  | NULL
+  | bob

$ changes more_in_a
op | name
-  | ann
-  | eve

$ changes either
op | name

$ changes upper_only
op | name
-  | BOB

$ changes how_many
op | city | n
+  | Bonn | 1
-  | Ulm  | 1

$ change b
op | name | city
-  | ann  | Ulm
-  | bob  | Kiel
-  | bob  | Kiel
-  | NULL | NULL

$ step

$ rows common
name | city

$ rows more_in_a
name
ann
ann
bob
eve

$ rows either
name
ann
bob
eve

$ rows how_many
city | n
Bonn | 1
Kiel | 2

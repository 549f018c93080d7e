# Conditions inside of conditions: what a derived table calls one column stays one value, and NOT reaches every IN below it.
> CREATE TABLE a (id INT, k INT, b BOOLEAN, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE few (k INT, b BOOLEAN) WITH ('connector' = 'values');
> CREATE VIEW not_either AS SELECT id FROM (SELECT id, k > 1 OR b AS c FROM a) d WHERE NOT c;
> CREATE VIEW both_ways AS SELECT id, c AND id < 3 AS x, c = b AS y, NOT r AS z FROM (SELECT id, b, k > 1 OR b AS c, s RLIKE 'p' AS r FROM a) d;
> CREATE VIEW in_groups AS SELECT c AND NOT d AS x, COUNT(*) AS n FROM (SELECT k > 1 OR b AS c, b AND k = 1 AS d FROM a) q GROUP BY c AND NOT d;

$ change a
op | id | k | b     | s
+  | 1  | 1 | false | p
+  | 2  | 2 | false | q
+  | 3  | NULL | true  | p
+  | 4  | NULL | false | NULL
+  | 5  | 1 | true  | q

$ change few
op | k | b
+  | 2 | true

$ change a
op | id | k | b     | s
-  | 1  | 1 | false | p
+  | 1  | 3 | false | q
+  | 6  | 0 | false | p

$ change few
op | k | b
+  | NULL | false

$ change few
op | k | b
-  | NULL | false
-  | 2 | true

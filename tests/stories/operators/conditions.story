# Conditions inside of conditions: what a derived table calls one column stays one value, and NOT reaches every IN below it.
> CREATE TABLE a (id INT, k INT, b BOOLEAN, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE TABLE few (k INT, b BOOLEAN) WITH ('connector' = 'values');
> CREATE VIEW not_either AS SELECT id FROM (SELECT id, k > 1 OR b AS c FROM a) d WHERE NOT c;
> CREATE VIEW both_ways AS SELECT id, c AND id < 3 AS x, c = b AS y, NOT r AS z FROM (SELECT id, b, k > 1 OR b AS c, s RLIKE 'p' AS r FROM a) d;
> CREATE VIEW in_groups AS SELECT c AND NOT d AS x, COUNT(*) AS n FROM (SELECT k > 1 OR b AS c, b AND k = 1 AS d FROM a) q GROUP BY c AND NOT d;
> CREATE VIEW neither AS SELECT id FROM a WHERE NOT (k IN (SELECT k FROM few) OR id = 9);
> CREATE VIEW not_both AS SELECT id FROM a WHERE NOT (k IN (SELECT k FROM few) AND id < 9);
> CREATE VIEW twice_not AS SELECT id FROM a WHERE NOT (NOT (k IN (SELECT k FROM few)) AND id > 0);
> CREATE VIEW in_a_case AS SELECT id, CASE WHEN NOT (k IN (SELECT k FROM few) OR b) THEN 1 ELSE 0 END AS c FROM a;
> CREATE VIEW either_in AS SELECT id FROM a WHERE (k > 1 OR b) IN (SELECT b FROM few);
> CREATE VIEW either_not_in AS SELECT id FROM a WHERE (k > 1 OR b) NOT IN (SELECT b FROM few);

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

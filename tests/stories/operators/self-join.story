# A table joined with itself: a change meets itself.
> CREATE TABLE people (id INT, boss INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW bosses AS
  SELECT p.name, b.name AS boss FROM people p JOIN people b ON p.boss = b.id;
> CREATE VIEW chains AS
  SELECT a.name AS a, b.name AS b, c.name AS c FROM people a JOIN people b ON a.boss = b.id JOIN people c ON b.boss = c.id;

$ change people
op | id | boss | name
+  | 1  | 1    | top
+  | 2  | 1    | mid
+  | 3  | 2    | low
+  | 4  | NULL | free

$ step

$ rows bosses
name | boss
low  | mid
mid  | top
top  | top

$ change people
op | id | boss | name
-  | 1  | 1    | top
+  | 1  | 3    | top
-  | 2  | 1    | mid
+  | 2  | 1    | MID

$ step

$ changes bosses
op | name | boss
+  | MID  | top
-  | low  | mid
+  | low  | MID
-  | mid  | top
-  | top  | top
+  | top  | low

# Columns with capitals in their names: SQL does not tell them apart, JSON does.
> CREATE TABLE Mixed (Id INT, theName STRING, PRIMARY KEY (Id) NOT ENFORCED) WITH ('connector' = 'values');
> CREATE VIEW told AS SELECT id, TO_JSON(STRUCT(*)) AS j, TO_JSON(STRUCT(thename AS N)) AS n FROM mixed;
> CREATE VIEW counted AS SELECT COUNT(m.*) AS n, MAX(THENAME) AS last FROM Mixed m;

$ change Mixed
op | Id | theName
+  | 1  | ann
+  | 2  | NULL

$ step

$ rows told
Id | j                           | n
1  | {"Id":1,"theName":"ann"}    | {"N":"ann"}
2  | {"Id":2}                    | {}

$ rows counted
n | last
1 | ann

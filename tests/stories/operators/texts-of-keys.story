# Two keys may have one text: a group that is shown by its text is still told from the others.

> CREATE TABLE notes (id INT, tags ARRAY<STRING>, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');

> CREATE VIEW last AS
  SELECT STRING(tags) AS shown, MAX(id) AS m FROM notes GROUP BY tags;

$ change notes
op | id | tags
+  | 1  | ["a, b"]
+  | 2  | ["a", "b"]

$ step

$ change notes
op | id | tags
+  | 3  | ["a", "b"]

$ step

$ changes last
op | shown  | m
-  | [a, b] | 2
+  | [a, b] | 3

$ change notes
op | id | tags
-  | 1  | ["a, b"]

$ step

$ changes last
op | shown  | m
-  | [a, b] | 1

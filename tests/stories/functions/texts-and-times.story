# Strings, times, arrays and casts with Flink's edges, in a filter, in a group key and in a join.
> CREATE TABLE events (
    id INT, name STRING, at TIMESTAMP(3), day DATE, ok BOOLEAN, tags ARRAY<STRING>, detail ROW<kind STRING, size INT>,
    short AS SUBSTRING(name, 0, 4), PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE TABLE kinds (
    kind STRING, label STRING, PRIMARY KEY (kind) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW shown AS
  SELECT id, short, REGEXP_EXTRACT(name, '([0-9]+)', 1) AS digits, CAST(ok AS STRING) AS ok, tags[1] AS first_tag,
    FLOOR(day TO MONTH) AS month, DATE_FORMAT(at, 'yyyy-MM-dd HH:mm') AS minute, GREATEST(detail.size, id) AS most,
    SPLIT_INDEX(name, '-', 1) AS part
  FROM events WHERE NOT REGEXP(name, '^skip');
> CREATE VIEW by_hour AS
  SELECT CEIL(at TO HOUR) AS hour, COUNT(*) AS n, MAX(TIMESTAMPDIFF(MINUTE, TO_TIMESTAMP('2024-01-01 00:00:00'), at)) AS minutes
  FROM events GROUP BY CEIL(at TO HOUR);
> CREATE VIEW labels AS
  SELECT e.id, k.label || ':' || e.detail.kind AS label FROM events AS e JOIN kinds AS k ON UPPER(e.detail.kind) = k.kind;

$ explain labels
labels when events changes: bilinear
labels when kinds changes: bilinear

$ change events
op | id | name     | at                      | day        | ok    | tags       | detail
+  | 1  | alpha-12 | 2024-01-01T10:00:00     | 2024-01-15 | true  | ["a", "b"] | {"kind": "x", "size": 9}
+  | 2  | skip-13  | 2024-01-01T10:20:00.123 | 2024-02-29 | false | []         | {"kind": "y", "size": 1}
+  | 3  | NULL     | NULL                    | NULL       | NULL  | NULL       | NULL
+  | 4  | be       | 2024-01-01T09:59:59     | 2024-03-31 | false | [null]     | {"kind": "x", "size": null}
$ change kinds
op | kind | label
+  | X    | ex
+  | Y    | why

$ step

$ rows shown
id | short | digits | ok    | first_tag | month      | minute           | most | part
1  | alph  | 12     | TRUE  | a         | 2024-01-01 | 2024-01-01 10:00 | 9    | 12
4  | be    | NULL   | FALSE | NULL      | 2024-03-01 | 2024-01-01 09:59 | NULL | NULL

$ rows by_hour
hour                | n | minutes
2024-01-01 10:00:00 | 2 | 600
2024-01-01 11:00:00 | 1 | 620
NULL                | 1 | NULL

$ rows labels
id | label
1  | ex:x
2  | why:y
4  | ex:x

$ change events
op | id | name     | at                      | day        | ok    | tags       | detail
-  | 1  | alpha-12 | 2024-01-01T10:00:00     | 2024-01-15 | true  | ["a", "b"] | {"kind": "x", "size": 9}
+  | 1  | alpha-x  | 2024-01-01T10:30:00     | 2024-01-15 | true  | ["c"]      | {"kind": "y", "size": 9}
-  | 4  | be       | 2024-01-01T09:59:59     | 2024-03-31 | false | [null]     | {"kind": "x", "size": null}
$ change kinds
op | kind | label
-  | Y    | why
+  | Y    | wye

$ step

$ changes shown
op | id | short | digits | ok    | first_tag | month      | minute           | most | part
-  | 1  | alph  | 12     | TRUE  | a         | 2024-01-01 | 2024-01-01 10:00 | 9    | 12
+  | 1  | alph  | NULL   | TRUE  | c         | 2024-01-01 | 2024-01-01 10:30 | 9    | x
-  | 4  | be    | NULL   | FALSE | NULL      | 2024-03-01 | 2024-01-01 09:59 | NULL | NULL

$ changes by_hour
op | hour                | n | minutes
-  | 2024-01-01 10:00:00 | 2 | 600
-  | 2024-01-01 11:00:00 | 1 | 620
+  | 2024-01-01 11:00:00 | 2 | 630

$ changes labels
op | id | label
-  | 1  | ex:x
+  | 1  | wye:y
-  | 2  | why:y
+  | 2  | wye:y
-  | 4  | ex:x

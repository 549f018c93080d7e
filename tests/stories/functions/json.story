# JSON that is read and JSON that is written: rows, groups, groups of what was read; NULLs, quotes and broken texts.
> CREATE TABLE docs (
    id INT, doc STRING, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');
> CREATE VIEW fields AS
  SELECT id,
    JSON_VALUE(doc, '$.n' RETURNING INT) AS n,
    JSON_VALUE(doc, 'lax $.who.name' DEFAULT 'nobody' ON EMPTY) AS who,
    JSON_QUERY(doc, '$.tags[*]') AS tags,
    JSON_QUERY(doc, '$.tags' RETURNING ARRAY<STRING>) AS tag_list,
    JSON_EXISTS(doc, '$.who') AS has_who,
    doc IS JSON OBJECT AS is_object
  FROM docs;
> CREATE VIEW by_who AS
  SELECT who, SUM(n) AS n, COUNT(*) AS docs, JSON_ARRAYAGG(JSON_OBJECT('id' VALUE id, 'n' VALUE n)) AS entries,
    LISTAGG(tag_list[1], '+') AS first_tags
  FROM fields GROUP BY who;
> CREATE VIEW overview AS
  SELECT JSON_OBJECTAGG(KEY who VALUE n) AS totals FROM by_who WHERE who IS NOT NULL;

$ explain fields
fields when docs changes: linear

$ explain by_who
by_who when fields changes: key-local

$ change docs
op | id | doc
+  | 1  | {"n": 5, "who": {"name": "Zoë"}, "tags": ["a", "b"]}
+  | 2  | {"n": 7, "who": {"name": "Zoë"}, "tags": ["c"]}
+  | 3  | {"n": "x", "tags": []}
+  | 4  | no json
+  | 5  | NULL

$ step

$ rows fields
id | n    | who    | tags      | tag_list | has_who | is_object
1  | 5    | Zoë    | ["a","b"] | [a, b]   | true    | true
2  | 7    | Zoë    | ["c"]     | [c]      | true    | true
3  | NULL | nobody | []        | []       | false   | true
4  | NULL | nobody | NULL      | NULL     | false   | false
5  | NULL | NULL   | NULL      | NULL     | NULL    | NULL

$ rows by_who
who    | n    | docs | entries                               | first_tags
NULL   | NULL | 1    | [{"id":5,"n":null}]                   | NULL
Zoë    | 12   | 2    | [{"id":1,"n":5},{"id":2,"n":7}]       | a+c
nobody | NULL | 2    | [{"id":3,"n":null},{"id":4,"n":null}] | NULL

$ rows overview
totals
{"Zoë":12,"nobody":null}

$ change docs
op | id | doc
-  | 2  | {"n": 7, "who": {"name": "Zoë"}, "tags": ["c"]}
+  | 2  | {"n": 8, "who": {"name": "say \"hi\" \\ \u20ac"}, "tags": [null, {"b": 1, "a": [2]}]}
-  | 4  | no json

$ step

$ changes by_who
op | who          | n    | docs | entries                               | first_tags
-  | Zoë          | 12   | 2    | [{"id":1,"n":5},{"id":2,"n":7}]       | a+c
+  | Zoë          | 5    | 1    | [{"id":1,"n":5}]                      | a
+  | nobody       | NULL | 1    | [{"id":3,"n":null}]                   | NULL
-  | nobody       | NULL | 2    | [{"id":3,"n":null},{"id":4,"n":null}] | NULL
+  | say "hi" \ € | 8    | 1    | [{"id":2,"n":8}]                      | NULL

$ changes overview
op | totals
-  | {"Zoë":12,"nobody":null}
+  | {"Zoë":5,"nobody":null,"say \"hi\" \\ €":8}

$ change docs
op | id | doc
-  | 1  | {"n": 5, "who": {"name": "Zoë"}, "tags": ["a", "b"]}
-  | 3  | {"n": "x", "tags": []}
-  | 5  | NULL

$ step

$ rows fields
id | n | who          | tags                   | tag_list                | has_who | is_object
2  | 8 | say "hi" \ € | [null,{"a":[2],"b":1}] | [NULL, {"a":[2],"b":1}] | true    | true

$ rows overview
totals
{"say \"hi\" \\ €":8}

# Functions that are not there say what is near; a JSON error that was asked for stops the view with a clear text.
> CREATE TABLE docs (
    id INT, doc STRING, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');

! SELECT JSON_VALEU(doc, '$.a') FROM docs;
error: function JSON_VALEU does not exist
hint: Did you mean 'json_value'?

! SELECT COLLECT(id) FROM docs;
error: function COLLECT is not here yet
hint: Use ARRAY_AGG, or COUNT(*) with GROUP BY the value: there is no type MULTISET.

> CREATE VIEW strict AS SELECT id, JSON_VALUE(doc, '$.a' RETURNING INT ERROR ON ERROR) AS a FROM docs;

$ change docs
op | id | doc
+  | 1  | {"a": 1}

$ step

$ rows strict
id | a
1  | 1

$ change docs
op | id | doc
+  | 2  | {"b": 1}

$ step
error: "strict" cannot be computed
detail: JSON_VALUE finds nothing that fits at $.a
hint: Let the query take such values (try_divide, try_cast, NULLIF, a WHERE), then start again.

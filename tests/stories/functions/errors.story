# Functions that are not there say what is near; a JSON error that was asked for stops the view with a clear text.
> CREATE TABLE docs (
    id INT, doc STRING, PRIMARY KEY (id) NOT ENFORCED
  ) WITH ('connector' = 'values');

! SELECT JSON_VALEU(doc, '$.a') FROM docs;
error: function JSON_VALEU does not exist
hint: Did you mean json_value?

! SELECT COLLECT(id) FROM docs;
error: function COLLECT is not here yet
hint: Use ARRAY_AGG, or COUNT(*) with GROUP BY the value: there is no type MULTISET.

! SELECT FIRST_VALUE(doc) FROM docs;
error: FIRST_VALUE without OVER has no order to go by, so no maintained result could stay true
hint: Use MIN or MAX, or number the rows with ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...).

! SELECT UNIX_TIMESTAMP() AS now FROM docs;
error: unix_timestamp gives another answer each time, so no maintained result could stay true
hint: Put the value into a column of the source table, and use that column.

! SELECT JSON_QUERY(doc, '$.a[?(@.b > 1)]') FROM docs;
error: the JSON path cannot be read at '[?(@.b > 1)]'
hint: A path is made of $, .field, ['field'], [0], [-1], [*] and .*; write strict or lax before it.

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

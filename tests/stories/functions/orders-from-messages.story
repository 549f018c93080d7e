# Orders that a database wrote as logical decoding messages: JSON in base64 in a row, no, one and many pizzas.
> CREATE TABLE pg_messages (
    op string,
    ts_ms bigint,
    source ROW( version string, connector string, name string, ts_ms bigint, snapshot string, db string, sequence string, schema string, `table` string, txId bigint, lsn bigint, xmin bigint),
    message ROW( prefix string, content string)
  ) WITH ('connector' = 'values');
> CREATE TABLE order_output (
    order_id INT,
    client_name string,
    table_name string,
    pizzas string,
    PRIMARY KEY (order_id) not enforced
  ) WITH ('connector' = 'values');
> INSERT into order_output
  select 
    JSON_VALUE(FROM_BASE64(message.content), '$.order_id'  RETURNING INT),
    JSON_VALUE(FROM_BASE64(message.content), '$.client_name'),
    JSON_VALUE(FROM_BASE64(message.content), '$.table_name'), 
    JSON_QUERY(FROM_BASE64(message.content), '$.pizzas[*]')
  from pg_messages;
> CREATE VIEW decoded AS
  SELECT m.ts_ms, m.message.prefix, m.source.lsn, m.source.`table` AS from_table, FROM_BASE64(m.message.content) AS content
  FROM pg_messages AS m WHERE m.source.txId = 7 AND (m.message).prefix = 'myprefix';
> CREATE VIEW prefixes AS
  SELECT message.prefix AS prefix, COUNT(*) AS orders, MAX(source.lsn) AS lsn FROM pg_messages GROUP BY message.prefix;

$ explain insert_order_output
insert_order_output when pg_messages changes: linear

$ change pg_messages
op | op | ts_ms | source | message
+ | m | 1 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDEsICJjbGllbnRfbmFtZSI6ICJab8OrIFwiWlwiIE8nSGFyYSIsICJ0YWJsZV9uYW1lIjogIlRhYmxlIDEiLCAicGl6emFzIjogW3sicGl6emEiOiAiTWFyZ2hlcml0YSIsICJwcmljZSI6IDh9LCB7InBpenphIjogIlF1YXR0cm8gXFwgXCJTdGFnaW9uaVwiIiwgInByaWNlIjogMTJ9XX0="}
+ | m | 2 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDIsICJjbGllbnRfbmFtZSI6ICLmnY7pm7ciLCAidGFibGVfbmFtZSI6ICJUYWJsZSAyIiwgInBpenphcyI6IFt7InBpenphIjogIkRpYXZvbGEiLCAicHJpY2UiOiAxMH1dfQ=="}
+ | m | 3 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDMsICJjbGllbnRfbmFtZSI6IG51bGwsICJ0YWJsZV9uYW1lIjogIlRhYmxlIDMiLCAicGl6emFzIjogW119"}
+ | m | 4 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDQsICJjbGllbnRfbmFtZSI6ICJEYW4iLCAidGFibGVfbmFtZSI6IG51bGx9"}

$ step

$ sink order_output
order_id | client_name    | table_name | pizzas
1        | Zoë "Z" O'Hara | Table 1    | [{"pizza":"Margherita","price":8},{"pizza":"Quattro \\ \"Stagioni\"","price":12}]
2        | 李雷             | Table 2    | [{"pizza":"Diavola","price":10}]
3        | NULL           | Table 3    | []
4        | Dan            | NULL       | NULL

$ rows decoded
ts_ms | prefix   | lsn | from_table | content
1     | myprefix | 100 |            | {"order_id": 1, "client_name": "Zoë \"Z\" O'Hara", "table_name": "Table 1", "pizzas": [{"pizza": "Margherita", "price": 8}, {"pizza": "Quattro \\ \"Stagioni\"", "price": 12}]}
2     | myprefix | 100 |            | {"order_id": 2, "client_name": "李雷", "table_name": "Table 2", "pizzas": [{"pizza": "Diavola", "price": 10}]}
3     | myprefix | 100 |            | {"order_id": 3, "client_name": null, "table_name": "Table 3", "pizzas": []}
4     | myprefix | 100 |            | {"order_id": 4, "client_name": "Dan", "table_name": null}

# An order is written again, another one is taken back.
$ change pg_messages
op | op | ts_ms | source | message
- | m | 2 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDIsICJjbGllbnRfbmFtZSI6ICLmnY7pm7ciLCAidGFibGVfbmFtZSI6ICJUYWJsZSAyIiwgInBpenphcyI6IFt7InBpenphIjogIkRpYXZvbGEiLCAicHJpY2UiOiAxMH1dfQ=="}
+ | m | 2 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDIsICJjbGllbnRfbmFtZSI6ICLmnY7pm7ciLCAidGFibGVfbmFtZSI6ICJUYWJsZSAyIiwgInBpenphcyI6IFt7InBpenphIjogIkRpYXZvbGEiLCAicHJpY2UiOiAxMH0sIHsicGl6emEiOiAiTWFyaW5hcmEiLCAicHJpY2UiOiA2LjV9XX0="}
- | m | 3 | {"version": "3.6", "connector": "postgresql", "name": "my_pg", "ts_ms": 1, "snapshot": "false", "db": "pizzas", "sequence": null, "schema": "", "table": "", "txId": 7, "lsn": 100, "xmin": null} | {"prefix": "myprefix", "content": "eyJvcmRlcl9pZCI6IDMsICJjbGllbnRfbmFtZSI6IG51bGwsICJ0YWJsZV9uYW1lIjogIlRhYmxlIDMiLCAicGl6emFzIjogW119"}

$ step

$ changes insert_order_output
op | order_id | client_name | table_name | pizzas
+  | 2        | 李雷          | Table 2    | [{"pizza":"Diavola","price":10},{"pizza":"Marinara","price":6.5}]
-  | 2        | 李雷          | Table 2    | [{"pizza":"Diavola","price":10}]
-  | 3        | NULL        | Table 3    | []

$ changes prefixes
op | prefix   | orders | lsn
+  | myprefix | 3      | 100
-  | myprefix | 4      | 100

$ sink order_output
order_id | client_name    | table_name | pizzas
1        | Zoë "Z" O'Hara | Table 1    | [{"pizza":"Margherita","price":8},{"pizza":"Quattro \\ \"Stagioni\"","price":12}]
2        | 李雷             | Table 2    | [{"pizza":"Diavola","price":10},{"pizza":"Marinara","price":6.5}]
4        | Dan            | NULL       | NULL

> CREATE VIEW kinds AS
  SELECT message IS NULL AS is_nothing, source.`table` AS from_table, COUNT(*) AS n FROM pg_messages GROUP BY message IS NULL, source.`table`;

$ change pg_messages
op | op | ts_ms | source | message
+  | m  | 9     | NULL   | NULL

$ step

$ rows kinds
is_nothing | from_table | n
false      |            | 3
true       | NULL       | 1

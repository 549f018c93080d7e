-- The orders that the application tells of in its messages, as rows by their number.

CREATE TABLE pg_messages (
    op string,
    ts_ms bigint,
    source ROW( version string, connector string, name string, ts_ms bigint, snapshot string, db string, sequence string, schema string, `table` string, txId bigint, lsn bigint, xmin bigint),
    message ROW( prefix string, content string)
) WITH (
    'connector' = 'kafka',
    'properties.bootstrap.servers' = '',
    'scan.startup.mode' = 'earliest-offset',
    'topic' = 'my_pg.message',
    'value.format' = 'json'
);

CREATE TABLE order_output (
    order_id INT,
    client_name string,
    table_name string,
    pizzas string,
    PRIMARY KEY (order_id) not enforced
) WITH (
   'connector' = 'upsert-kafka',
   'properties.bootstrap.servers' = '',
   'topic' = 'order_output',
   'value.format' = 'json',
   'key.format' = 'json'
);

INSERT into order_output
select
    JSON_VALUE(FROM_BASE64(message.content), '$.order_id'  RETURNING INT),
    JSON_VALUE(FROM_BASE64(message.content), '$.client_name'),
    JSON_VALUE(FROM_BASE64(message.content), '$.table_name'),
    JSON_QUERY(FROM_BASE64(message.content), '$.pizzas[*]')
from pg_messages;

-- The same straight from the database's log, where a message is what the application wrote: nothing to decode.

CREATE TABLE pg_messages (
    prefix string,
    content string,
    lsn string,
    transaction_id bigint,
    commit_time timestamp_ltz(6)
) WITH (
    'connector' = 'postgres-cdc',
    'hostname' = 'postgres',
    'port' = '5432',
    'username' = 'postgres',
    'password' = 'postgres',
    'database-name' = 'postgres',
    'messages.prefix' = 'myprefix'
);

SELECT
    JSON_VALUE(content, '$.order_id' RETURNING INT) AS order_id,
    JSON_VALUE(content, '$.client_name') AS client_name,
    JSON_VALUE(content, '$.table_name') AS table_name,
    JSON_QUERY(content, '$.pizzas[*]') AS pizzas
FROM pg_messages;

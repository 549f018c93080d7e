-- What people hold, from the log of the bank's Postgres.

CREATE TABLE holding (
  holding_id       INT,
  user_id          INT,
  holding_stock    STRING,
  holding_quantity INT
) WITH (
  'connector' = 'postgres-cdc',
  'hostname' = 'postgres',
  'port' = '5432',
  'username' = 'data_engineer',
  'password' = 'password',
  'database-name' = 'data_engineer',
  'schema-name' = 'bank',
  'table-name' = 'holding'
);

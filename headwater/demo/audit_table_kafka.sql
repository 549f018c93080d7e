-- What people hold, from the topic into which Debezium writes what changes in the bank's Postgres.

CREATE TABLE holding (
  holding_id       INT,
  user_id          INT,
  holding_stock    STRING,
  holding_quantity INT
) WITH (
  'connector' = 'kafka',
  'topic' = 'bankserver1.bank.holding',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

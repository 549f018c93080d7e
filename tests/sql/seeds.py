"""The statements of the demos this project grew from, as written there."""

from __future__ import annotations

CATALOG = """CREATE CATALOG postgres WITH (
    'type'='jdbc',
    'property-version'='1',
    'base-url'='jdbc:postgresql://postgres:5432/',
    'default-database'='postgres',
    'username'='postgres',
    'password'='postgres'
)"""

CLAIMS_LIKE = """CREATE TABLE accident_claims
WITH (
  'connector' = 'kafka',
  'topic' = 'pg_claims.claims.accident_claims',
  'properties.bootstrap.servers' = 'kafka:9092',
  'properties.group.id' = 'test-consumer-group',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
 )
LIKE postgres.postgres.`claims.accident_claims` (\x20
EXCLUDING OPTIONS)"""

MEMBERS_LIKE = """CREATE TABLE members
LIKE postgres.postgres.`claims.members` (\x20
INCLUDING OPTIONS)"""

ALL_CLAIMS = "SELECT * FROM accident_claims"

COSTS = """CREATE TABLE agg_insurance_costs (
  es_key STRING PRIMARY KEY NOT ENFORCED,
  insurance_company STRING,
  accident_detail STRING,
  accident_agg_cost DOUBLE
) WITH (
  'connector' = 'elasticsearch-7',
  'hosts' = 'http://elasticsearch:9200',
  'index' = 'agg_insurance_costs'
)"""

INSERT_COSTS = """INSERT INTO agg_insurance_costs
SELECT UPPER(SUBSTRING(m.insurance_company,0,4) || '_' || SUBSTRING (ac.accident_detail,0,4)) es_key,
       m.insurance_company,
       ac.accident_detail,
       SUM(ac.claim_total) member_total
FROM accident_claims ac
JOIN members m
ON ac.member_id = m.id
WHERE ac.claim_status <> 'DENIED'
GROUP BY m.insurance_company, ac.accident_detail"""

INFORMATION_SCHEMA = "SELECT * FROM information_schema.tables WHERE table_schema='claims'"

INSERT_CLAIM = """INSERT INTO accident_claims (claim_total, claim_total_receipt, claim_currency, \
member_id, accident_date, accident_type, accident_detail, claim_date, claim_status) VALUES \
(500, 'PharetraMagnaVestibulum.tiff', 'AUD', 321, '2020-08-01 06:43:03', 'Collision', \
'Blue Ringed Octopus', '2020-08-10 09:39:31', 'INITIAL')"""

UPDATE_CLAIM = "UPDATE accident_claims SET claim_total_receipt = 'CorrectReceipt.pdf' WHERE claim_id = 1001"

DELETE_CLAIM = "DELETE FROM accident_claims WHERE claim_id = 1001"

CLAIMS = """CREATE TABLE accident_claims (
    claim_id INT,
    claim_total FLOAT,
    claim_total_receipt VARCHAR(50),
    claim_currency VARCHAR(3),
    member_id INT,
    accident_date VARCHAR(20),
    accident_type VARCHAR(20),
    accident_detail VARCHAR(20),
    claim_date VARCHAR(20),
    claim_status VARCHAR(10),
    ts_created VARCHAR(20),
    ts_updated VARCHAR(20)
) WITH (
  'connector' = 'postgres-cdc',
  'hostname' = 'postgres',
  'port' = '5432',
  'username' = 'postgres',
  'password' = 'postgres',
  'database-name' = 'postgres',
  'schema-name' = 'claims',
  'table-name' = 'accident_claims'
 )"""

CLAIM_COSTS = """SELECT accident_detail,
       SUM(claim_total) AS agg_claim_costs
FROM accident_claims
WHERE claim_status <> 'DENIED'
GROUP BY accident_detail"""

MESSAGES = """CREATE TABLE pg_messages (
    op string,
    ts_ms bigint,
    source ROW( version string, connector string, name string, ts_ms bigint, snapshot string, db string, \
sequence string, schema string, `table` string, txId bigint, lsn bigint, xmin bigint),
    message ROW( prefix string, content string)
) WITH (
    'connector' = 'kafka',
    'properties.bootstrap.servers' = '',
    'scan.startup.mode' = 'earliest-offset',
    'topic' = 'my_pg.message',
    'value.format' = 'json'
)"""

ORDER_OUTPUT = """CREATE TABLE order_output (
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
)"""

INSERT_ORDERS = """INSERT into order_output
select
    JSON_VALUE(FROM_BASE64(message.content), '$.order_id'  RETURNING INT),
    JSON_VALUE(FROM_BASE64(message.content), '$.client_name'),
    JSON_VALUE(FROM_BASE64(message.content), '$.table_name'),
    JSON_QUERY(FROM_BASE64(message.content), '$.pizzas[*]')
from pg_messages"""

ORDER_BLOCK = """BEGIN;
DO
  $$
  DECLARE
    INSERTED_ORDER_ID INT;
    JSON_ORDER text;
  BEGIN

  INSERT INTO ORDERS
    (TABLE_ASSIGNMENT_ID, ORDER_TIME, PIZZAS)
    VALUES (2, CURRENT_TIMESTAMP, '{1,2,3,4}') RETURNING id into INSERTED_ORDER_ID;

  select JSONB_BUILD_OBJECT(
      'order_id', orders.id,
      'client_name', clients.name,
      'table_name', tables.name,
      'pizzas',
      JSONB_AGG(
              JSONB_BUILD_OBJECT(
                'pizza', pizzas.name,
                'price', pizzas.price
                )
            )
    ) into JSON_ORDER
    from orders
      join table_assignment on orders.table_assignment_id = table_assignment.id
      join pizzas on pizzas.id = ANY (orders.pizzas)
      join clients on table_assignment.client_id = clients.id
      join tables on table_assignment.table_id = tables.id
    where orders.id=INSERTED_ORDER_ID
    group by
        orders.id,
        clients.name,
        tables.name;

    SELECT * FROM pg_logical_emit_message(true,'myprefix',JSON_ORDER) into JSON_ORDER;
  END;
  $$;
END"""

HOLDING = """CREATE TABLE bank.holding (
      holding_id int,
      user_id int,
      holding_stock varchar(8),
      holding_quantity int,
      datetime_created timestamp,
      datatime_updated timestamp
      )"""

INSERT_HOLDING = "INSERT INTO bank.holding VALUES (1000, 1, 'VFIAX', 10, now(), now())"

REFUSED = {
    UPDATE_CLAIM: "UPDATE",
    DELETE_CLAIM: "DELETE",
    "CREATE SCHEMA bank": "CREATE SCHEMA",
    "ALTER TABLE bank.holding replica identity FULL": "ALTER",
    "update bank.holding set holding_quantity = 100 where holding_id = 1000": "UPDATE",
    "delete from bank.holding where user_id = 3": "DELETE",
    "BEGIN": "BEGIN",
}
"""Statements that have no body yet, or that are meant for the source database."""

STATEMENTS = [
    *(
        CATALOG,
        CLAIMS_LIKE,
        MEMBERS_LIKE,
        ALL_CLAIMS,
        COSTS,
        INSERT_COSTS,
        INFORMATION_SCHEMA,
        INSERT_CLAIM,
        CLAIMS,
        CLAIM_COSTS,
        MESSAGES,
    ),
    *(ORDER_OUTPUT, INSERT_ORDERS, HOLDING, INSERT_HOLDING, *REFUSED),
]

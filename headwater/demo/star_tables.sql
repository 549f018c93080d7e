-- Five tables of a shop, from the binary log of its MySQL or MariaDB.


CREATE TABLE customers WITH (
  'connector' = 'mysql-cdc',
  'hostname' = 'mysql',
  'port' = '3306',
  'username' = 'root',
  'password' = 'debezium',
  'database-name' = 'classicmodels',
  'table-name' = 'customers'
);

CREATE TABLE products WITH (
  'connector' = 'mysql-cdc',
  'hostname' = 'mysql',
  'port' = '3306',
  'username' = 'root',
  'password' = 'debezium',
  'database-name' = 'classicmodels',
  'table-name' = 'products'
);

CREATE TABLE productlines (
  `productLine`     STRING PRIMARY KEY NOT ENFORCED,
  `textDescription` STRING
) WITH (
  'connector' = 'mysql-cdc',
  'hostname' = 'mysql',
  'port' = '3306',
  'username' = 'root',
  'password' = 'debezium',
  'database-name' = 'classicmodels',
  'table-name' = 'productlines'
);

CREATE TABLE orders WITH (
  'connector' = 'mysql-cdc',
  'hostname' = 'mysql',
  'port' = '3306',
  'username' = 'root',
  'password' = 'debezium',
  'database-name' = 'classicmodels',
  'table-name' = 'orders'
);

CREATE TABLE orderdetails WITH (
  'connector' = 'mysql-cdc',
  'hostname' = 'mysql',
  'port' = '3306',
  'username' = 'root',
  'password' = 'debezium',
  'database-name' = 'classicmodels',
  'table-name' = 'orderdetails'
);

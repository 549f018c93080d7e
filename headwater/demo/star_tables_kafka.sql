-- Five tables of a shop, from the topics into which Debezium writes what changes in its MySQL or MariaDB.

CREATE TABLE customers (
  `customerNumber`         INT,
  `customerName`           STRING,
  `contactLastName`        STRING,
  `contactFirstName`       STRING,
  `phone`                  STRING,
  `addressLine1`           STRING,
  `addressLine2`           STRING,
  `city`                   STRING,
  `state`                  STRING,
  `postalCode`             STRING,
  `country`                STRING,
  `salesRepEmployeeNumber` INT,
  `creditLimit`            DECIMAL(10, 2),
  PRIMARY KEY (`customerNumber`) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.classicmodels.customers',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

CREATE TABLE products (
  `productCode`        STRING,
  `productName`        STRING,
  `productLine`        STRING,
  `productScale`       STRING,
  `productVendor`      STRING,
  `productDescription` STRING,
  `quantityInStock`    SMALLINT,
  `buyPrice`           DECIMAL(10, 2),
  `MSRP`               DECIMAL(10, 2),
  PRIMARY KEY (`productCode`) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.classicmodels.products',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

CREATE TABLE productlines (
  `productLine`     STRING,
  `textDescription` STRING,
  PRIMARY KEY (`productLine`) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.classicmodels.productlines',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

CREATE TABLE orders (
  `orderNumber`    INT,
  `orderDate`      DATE,
  `requiredDate`   DATE,
  `shippedDate`    DATE,
  `status`         STRING,
  `comments`       STRING,
  `customerNumber` INT,
  PRIMARY KEY (`orderNumber`) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.classicmodels.orders',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

CREATE TABLE orderdetails (
  `orderNumber`     INT,
  `productCode`     STRING,
  `quantityOrdered` INT,
  `priceEach`       DECIMAL(10, 2),
  `orderLineNumber` SMALLINT,
  PRIMARY KEY (`orderNumber`, `productCode`) NOT ENFORCED
) WITH (
  'connector' = 'kafka',
  'topic' = 'shop.classicmodels.orderdetails',
  'properties.bootstrap.servers' = 'kafka:9092',
  'format' = 'debezium-json',
  'scan.startup.mode' = 'earliest-offset'
);

-- Orders of a shop as a star schema in Postgres: one fact table, two dimensions, always of one moment.

CREATE TABLE fact_orders (
  `orderNumber`     INT,
  `productCode`     STRING,
  `customerNumber`  INT,
  `orderDate`       DATE,
  `requiredDate`    DATE,
  `shippedDate`     DATE,
  `status`          STRING,
  `comments`        STRING,
  `orderLineNumber` SMALLINT,
  `quantityOrdered` INT,
  `priceEach`       DECIMAL(10, 2),
  PRIMARY KEY (`orderNumber`, `productCode`) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://postgres:5432/postgres',
  'table-name' = 'classicmodels_star_schema.fact_orders',
  'username' = 'postgresuser',
  'password' = 'adminpwrd'
);

CREATE TABLE dim_customers (
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
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://postgres:5432/postgres',
  'table-name' = 'classicmodels_star_schema.dim_customers',
  'username' = 'postgresuser',
  'password' = 'adminpwrd'
);

CREATE TABLE dim_products (
  `productCode`            STRING,
  `productName`            STRING,
  `productLine`            STRING,
  `productScale`           STRING,
  `productVendor`          STRING,
  `productDescription`     STRING,
  `quantityInStock`        SMALLINT,
  `buyPrice`               DECIMAL(10, 2),
  `MSRP`                   DECIMAL(10, 2),
  `productLineDescription` STRING,
  PRIMARY KEY (`productCode`) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://postgres:5432/postgres',
  'table-name' = 'classicmodels_star_schema.dim_products',
  'username' = 'postgresuser',
  'password' = 'adminpwrd'
);

-- All three move together: a line of an order never stands without its customer and its product.
EXECUTE STATEMENT SET
BEGIN
  INSERT INTO fact_orders
  SELECT
    o.`orderNumber`, d.`productCode`, o.`customerNumber`, o.`orderDate`, o.`requiredDate`, o.`shippedDate`, o.`status`,
    o.`comments`, d.`orderLineNumber`, d.`quantityOrdered`, d.`priceEach`
  FROM orders AS o
  JOIN orderdetails AS d ON o.`orderNumber` = d.`orderNumber`;

  INSERT INTO dim_customers SELECT * FROM customers;

  INSERT INTO dim_products
  SELECT p.*, l.`textDescription` AS `productLineDescription`
  FROM products AS p
  JOIN productlines AS l ON p.`productLine` = l.`productLine`;
END;

-- What the dashboard of the claims draws: what each animal costs each insurer, denied claims apart.

CREATE TABLE members (
    id INT,
    insurance_company VARCHAR(25),
    PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'postgres-cdc',
  'hostname' = 'postgres',
  'port' = '5432',
  'username' = 'postgres',
  'password' = 'postgres',
  'database-name' = 'postgres',
  'schema-name' = 'claims',
  'table-name' = 'members'
 );

CREATE VIEW costs AS
SELECT m.insurance_company AS company,
       ac.accident_detail AS animal,
       SUM(ac.claim_total) AS cost,
       COUNT(*) AS claims
FROM accident_claims ac
JOIN members m
ON ac.member_id = m.id
WHERE ac.claim_status <> 'DENIED'
GROUP BY m.insurance_company, ac.accident_detail;

CREATE VIEW costs_by_animal AS
SELECT animal, SUM(cost) AS cost, SUM(claims) AS claims FROM costs GROUP BY animal;

CREATE VIEW costs_by_company AS
SELECT company, SUM(cost) AS cost, SUM(claims) AS claims FROM costs GROUP BY company;

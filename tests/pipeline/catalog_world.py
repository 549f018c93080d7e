"""What the tests of catalogs share: tables in a schema of their own, and a catalog over the server they lie on."""

from __future__ import annotations

from tests.postgres.world import Database

CLAIMS = """
CREATE SCHEMA claims;
CREATE TABLE claims.members (
  id int PRIMARY KEY, first_name varchar(50) NOT NULL, insurance_company varchar(25), ts_created varchar(20)
);
CREATE TABLE claims.accident_claims (
  claim_id serial PRIMARY KEY, claim_total float, claim_status varchar(10), accident_detail varchar(20),
  member_id int REFERENCES claims.members ON DELETE SET NULL
);
ALTER TABLE claims.accident_claims REPLICA IDENTITY FULL;
INSERT INTO claims.members SELECT n, 'm' || n, (ARRAY['Allianz', 'QBE', 'Suncorp Group'])[n % 3 + 1], 'x'
  FROM generate_series(1, 50) n;
INSERT INTO claims.accident_claims (claim_total, claim_status, accident_detail, member_id)
  SELECT n, (ARRAY['DENIED', 'INITIAL'])[n % 2 + 1], (ARRAY['Cassowary', 'Shark'])[n % 2 + 1], n % 50 + 1
  FROM generate_series(1, 200) n;
CREATE TABLE costs (es_key text PRIMARY KEY, insurance_company text, accident_detail text, accident_agg_cost float8);
"""
COSTS = """
SELECT upper(substring(m.insurance_company, 1, 4) || '_' || substring(ac.accident_detail, 1, 4)), m.insurance_company,
       ac.accident_detail, SUM(ac.claim_total)
FROM claims.accident_claims ac JOIN claims.members m ON ac.member_id = m.id
WHERE ac.claim_status <> 'DENIED' GROUP BY m.insurance_company, ac.accident_detail
"""


def catalog(of: Database, name: str = "postgres", **given: str) -> str:
    """The catalog of the demos, for this server."""
    options = {
        "type": "jdbc",
        "property-version": "1",
        "base-url": f"jdbc:postgresql://127.0.0.1:{of.port}/",
        "default-database": of.name,
        "username": "postgres",
        "password": "postgres",
    }
    options |= {key.replace("_", "-"): value for key, value in given.items()}
    listed = ",\n".join(f"  '{key}'='{value}'" for key, value in options.items())
    return f"CREATE CATALOG {name} WITH (\n{listed}\n);\n"

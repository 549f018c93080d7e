"""Catalogs, LIKE and names of three parts, over tables of a real Postgres.

Oracles: the same query in Postgres; the texts below.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.on_paper import compile_on_paper
from tests.pipeline.catalog_world import CLAIMS, COSTS, catalog
from tests.pipeline.world import Listening, bag, command, pipeline, rows, sink
from tests.postgres.world import Database
from tests.sql import seeds

pytestmark = pytest.mark.services
on_spark = pytest.mark.jvm


@pytest.fixture
def claims(database: Database) -> Database:
    database.run(CLAIMS)
    return database


def here(of: Database, statement: str) -> str:
    """A statement of the demos for this server: its own host, port and database."""
    address = f"127.0.0.1:{of.port}"
    return statement.replace("//postgres:5432", f"//{address}").replace(
        "postgres.postgres.", f"postgres.{of.name}."
    )


def followed(of: Database, statement: str) -> str:
    """The same table from the log of Postgres, where a broker is no part of the test."""
    options = f"""'connector' = 'postgres-cdc', 'hostname' = '127.0.0.1', 'port' = '{of.port}',
      'username' = 'postgres', 'password' = 'postgres', 'database-name' = '{of.name}',
      'schema-name' = 'claims', 'table-name' = 'accident_claims'"""
    begin, end = statement.index("WITH ("), statement.index("LIKE ")
    return f"{statement[:begin]}WITH ({options})\n{statement[end:]}"


def test_the_statements_of_the_demo_compile_as_written(claims: Database) -> None:
    """But for host, port and the name of the database."""
    written = (
        seeds.CATALOG,
        seeds.CLAIMS_LIKE,
        seeds.MEMBERS_LIKE,
        seeds.ALL_CLAIMS,
        seeds.COSTS,
        seeds.INSERT_COSTS,
    )
    script = here(claims, ";\n".join(written)).replace(
        "'postgres',\n    'username'", f"'{claims.name}',\n    'username'"
    )
    program = compile_on_paper(script)
    table, members = program.tables["accident_claims"], program.tables["members"]
    assert {c.name: c.type for c in table.schema} == {
        "claim_id": "int",
        "claim_total": "double",
        "claim_status": "string",
        "accident_detail": "string",
        "member_id": "int",
    }
    assert (table.connector, table.schema.key) == ("kafka", ("claim_id",))
    assert (members.connector, members.schema.key) == ("jdbc", ("id",))
    assert members.table.options.table_name == "claims.members"
    assert [node.connector for node in program.sinks] == ["elasticsearch-7"]


@on_spark
def test_claims_joined_with_members_that_are_read_once(claims: Database, folder: Path) -> None:
    script = (
        catalog(claims)
        + followed(claims, here(claims, seeds.CLAIMS_LIKE))
        + ";\n"
        + here(claims, seeds.MEMBERS_LIKE)
        + ";\n"
        + sink(
            claims,
            "costs",
            "(es_key STRING PRIMARY KEY NOT ENFORCED, insurance_company STRING, accident_detail STRING,"
            " accident_agg_cost DOUBLE)",
            name="agg_insurance_costs",
        )
        + seeds.INSERT_COSTS
    )
    with pipeline(script, folder) as running:
        running.run_once()
        assert bag(claims, "SELECT * FROM costs") == bag(claims, COSTS)
        claims.run("UPDATE claims.accident_claims SET claim_status = 'INITIAL' WHERE claim_id % 4 = 0")
        claims.run("DELETE FROM claims.accident_claims WHERE claim_id < 30")
        running.run_once()
        expected = bag(claims, COSTS)
        assert bag(claims, "SELECT * FROM costs") == expected
        claims.run("UPDATE claims.members SET insurance_company = 'QBE'")
        running.run_once()
        assert bag(claims, "SELECT * FROM costs") == expected, "members were read once"
    claims.run("ALTER TABLE claims.members RENAME TO gone")
    assert command("verify", "--state", folder / "state").code == 0, "nothing is asked"
    assert command("drop", "--state", folder / "state").code == 0 and claims.slots() == []


@on_spark
def test_tables_of_a_catalog_in_queries_by_any_of_their_names(claims: Database, folder: Path) -> None:
    claims.run("CREATE TABLE totals (company text PRIMARY KEY, n bigint)")
    claims.run("CREATE TABLE rates AS SELECT 'Allianz' AS company, 2 AS rate")
    db = claims.name
    script = f"""
    {catalog(claims, "pg")}
    CREATE VIEW three AS SELECT COUNT(*) AS n FROM pg.{db}.`claims.members`;
    CREATE VIEW four AS SELECT pg.{db}.rates.rate FROM pg.{db}.rates, pg.{db}.claims.members WHERE id = 1;
    USE CATALOG pg;
    CREATE VIEW two AS SELECT r.company FROM {db}.rates AS r;
    CREATE VIEW bare AS SELECT rates.company, `claims.members`.id
    FROM rates JOIN `claims.members` ON rates.company = `claims.members`.insurance_company
    WHERE id IN (SELECT member_id FROM `claims.accident_claims`);
    CREATE VIEW own AS WITH rates AS (SELECT 1 AS x) SELECT x FROM rates;
    USE default_catalog.default_database;
    INSERT INTO pg.{db}.totals SELECT insurance_company, COUNT(*) FROM pg.{db}.`claims.members` GROUP BY 1;
    """
    with pipeline(script, folder) as running:
        running.run_once()
        assert rows(running, "three") == {(50,): 1}
        assert rows(running, "four") == {(2,): 1}
        assert rows(running, "two") == {("Allianz",): 1} and rows(running, "own") == {(1,): 1}
        allianz = "SELECT 'Allianz', id FROM claims.members WHERE insurance_company = 'Allianz'"
        assert rows(running, "bare") == bag(claims, allianz)
        counted = "SELECT insurance_company, count(*) FROM claims.members GROUP BY 1"
        assert bag(claims, "SELECT * FROM totals") == bag(claims, counted)


def test_what_show_and_describe_say_of_a_catalog(claims: Database) -> None:
    claims.run("CREATE TABLE rates AS SELECT 'Allianz' AS company, 2 AS rate")
    program = compile_on_paper(f"""
    {catalog(claims, "pg")}
    USE CATALOG pg;
    SHOW CURRENT CATALOG; SHOW CURRENT DATABASE; SHOW TABLES; SHOW TABLES LIKE '%claims'; SHOW VIEWS;
    SHOW CATALOGS; SHOW DATABASES LIKE 'pipe%'; DESCRIBE rates; SHOW CREATE TABLE rates;
    USE default_catalog.default_database;
    SHOW TABLES FROM pg NOT LIKE 'public.%'; SHOW TABLES; SHOW DATABASES;
    """)
    answers, of_claims = program.answers, "claims.accident_claims\nclaims.members"
    assert answers[:2] == ("pg", claims.name)
    assert answers[2] == f"{of_claims}\npublic.costs\npublic.rates"
    assert answers[3:6] == ("claims.accident_claims", "(none)", "default_catalog\npg")
    assert claims.name in answers[6].split("\n")
    assert answers[7] == "company  string\nrate     int"
    assert (
        "'password' = '***'" in answers[8] and f"CREATE TABLE `pg.{claims.name}.public.rates`" in answers[8]
    )
    assert answers[9:] == (of_claims, "(none)", "default_database")


@on_spark
def test_a_table_like_one_of_a_catalog_can_be_read_again(claims: Database, folder: Path) -> None:
    script = (
        catalog(claims)
        + f"""CREATE TABLE members (upper_company AS UPPER(insurance_company)) WITH ('scan.refresh-interval' = '1 h')
              LIKE postgres.{claims.name}.`claims.members`;
              CREATE VIEW companies AS SELECT upper_company, COUNT(*) AS n FROM members GROUP BY upper_company;"""
    )
    query = "SELECT upper(insurance_company), count(*) FROM claims.members GROUP BY 1"
    for changes in (
        ("DELETE FROM claims.members WHERE id > 40", "UPDATE claims.members SET insurance_company = 'QBE'"),
        ("INSERT INTO claims.members VALUES (99, 'n', 'New', NULL)", "TRUNCATE claims.members CASCADE"),
    ):
        with pipeline(script, folder) as running:
            for change in ("SELECT 1", *changes):
                claims.run(change)
                running.run_once()
                assert rows(running, "companies") == bag(claims, query), change


@on_spark
def test_a_declared_table_is_written_and_read(claims: Database, folder: Path) -> None:
    claims.run("CREATE TABLE per_member (member_id int PRIMARY KEY, n bigint)")
    claims.run("INSERT INTO per_member VALUES (1000, 5)")
    columns = "(member_id INT, n BIGINT, PRIMARY KEY (member_id) NOT ENFORCED)"
    script = (
        catalog(claims)
        + sink(
            claims,
            "per_member",
            columns,
            scan__refresh_interval="1 h",
            lookup__max_retries="3",
            sink__max_retries="1",
        )
        + f"""CREATE VIEW most AS SELECT MAX(n) AS n FROM per_member;
              INSERT INTO per_member SELECT member_id, COUNT(*) FROM postgres.{claims.name}.`claims.accident_claims`
              GROUP BY member_id;"""
    )
    with pipeline(script, folder) as running:
        running.run_once()
        running.run_once()
        assert rows(running, "most") == {(5,): 1}
        assert bag(claims, "SELECT count(*) FROM per_member") == {(51,): 1}
        claims.run("INSERT INTO per_member VALUES (1001, 7)")
        running.run_once()
        assert rows(running, "most") == {(7,): 1}


@on_spark
def test_a_lookup_join_is_a_join_with_what_was_read(claims: Database, folder: Path) -> None:
    script = (
        catalog(claims)
        + """CREATE TABLE visits (id INT, at AS PROCTIME(), member_id INT, twice AS id * 2)
              WITH ('connector' = 'datagen', 'number-of-rows' = '20', 'rows-per-second' = '1000',
                    'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '20',
                    'fields.member_id.kind' = 'sequence', 'fields.member_id.start' = '1', 'fields.member_id.end' = '20');
              USE CATALOG postgres;
              CREATE VIEW joined AS SELECT v.id, v.twice, m.first_name
              FROM visits AS v JOIN `claims.members` FOR SYSTEM_TIME AS OF v.at AS m ON v.member_id = m.id;
              CREATE VIEW star AS SELECT * FROM visits;"""
    )
    with pipeline(script, folder) as running:
        running.run_once()
        assert rows(running, "joined") == {(n, 2 * n, f"m{n}"): 1 for n in range(1, 21)}
        assert running.schema("star").names == ("id", "member_id", "twice")


@on_spark
def test_references_of_a_catalog_work_and_never_show(
    claims: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = {
        "PG_HOST": "127.0.0.1",
        "PG_USER": "hidden_role",
        "PG_WORD": "hidden word",
        "PG_DB": claims.name,
    }
    for name, value in hidden.items():
        monkeypatch.setenv(name, value)
    if not claims.run("SELECT 1 FROM pg_roles WHERE rolname = 'hidden_role'"):
        claims.run("CREATE ROLE hidden_role LOGIN SUPERUSER PASSWORD 'hidden word'")
    given = catalog(
        claims,
        base_url="jdbc:postgresql://${env:PG_HOST}:" + str(claims.port),
        default_database="${env:PG_DB}",
        username="${env:PG_USER}",
        password="${env:PG_WORD}",
    )
    script = (
        given
        + "USE CATALOG postgres; SHOW CREATE CATALOG postgres; SELECT COUNT(*) AS n FROM `claims.members`;"
    )
    (folder / "a.sql").write_text(script)
    ran = command("run", folder / "a.sql", "--once", "--state", folder / "state")
    assert ran.code == 0 and "50" in ran.out, ran.err
    monkeypatch.setenv("PG_WORD", "another word")
    # What was read is in the first state; a new one has to ask.
    refused = command("run", folder / "a.sql", "--once", "--state", folder / "another")
    assert refused.code == 1 and "'username' and 'password'" in refused.err
    said = ran.out + ran.err + refused.out + refused.err
    assert [value for value in (*hidden.values(), "another word") if value in said] == []


@on_spark
def test_progress_is_told_while_a_table_is_read(claims: Database, folder: Path) -> None:
    listening = Listening()
    with pipeline(
        catalog(claims) + f"SELECT id FROM postgres.{claims.name}.`claims.members`;", folder, listening
    ):
        pass
    assert listening.subjects("snapshot") == {f"postgres.{claims.name}.claims.members"}

"""What can be wrong with catalogs and the names in them: each is told at its place, with the nearest that is right.

Oracle: the texts below.
"""

from __future__ import annotations

import pytest

from headwater.errors import HeadwaterError
from tests.operators.on_paper import compile_on_paper
from tests.pipeline.catalog_world import CLAIMS, catalog
from tests.postgres.world import Database

pytestmark = pytest.mark.services


@pytest.fixture
def claims(database: Database) -> Database:
    database.run(CLAIMS)
    return database


MEMBERS = "postgres.{db}.`claims.members`"
WRONG = [
    (
        "SELECT * FROM postgre.{db}.t",
        'catalog "postgre" does not exist',
        'Did you mean "postgres"?',
        "postgre.{db}.t",
    ),
    (
        "SELECT * FROM postgres.{db}x.t",
        'catalog "postgres" has no database "{db}x"',
        'Did you mean "{db}"?',
        "postgres.{db}x.t",
    ),
    (
        "SELECT * FROM postgres.{db}.`claims.membrs`",
        "the schema 'claims' has no table 'membrs'",
        "Did you mean 'members'?",
        "postgres.{db}.`claims.membrs`",
    ),
    (
        "SELECT * FROM postgres.{db}.`clams.members`",
        "the database has no schema 'clams'",
        "Did you mean 'claims'?",
        "postgres.{db}.`clams.members`",
    ),
    (
        "SELECT * FROM postgres.{db}.members",
        "the schema 'public' has no table 'members'",
        "'claims.members'",
        "postgres.{db}.members",
    ),
    (
        "SELECT nme FROM postgres.{db}.`claims.members`",
        'column "nme" does not exist',
        "The columns are",
        "nme",
    ),
    (
        "CREATE TABLE t LIKE postgres.{db}.`claims.membrs`",
        "the schema 'claims' has no table 'membrs'",
        "members",
        "postgres",
    ),
    ("CREATE TABLE t LIKE missing", 'table "missing" does not exist', "Declare it", "missing"),
    (
        "CREATE VIEW v AS SELECT 1 AS a; CREATE TABLE t LIKE v",
        '"v" is a view; LIKE takes a table',
        "List the columns",
        "v",
    ),
    (
        "CREATE TABLE postgres.{db}.t (a INT)",
        'nothing can be made in catalog "postgres"',
        "Leave the catalog out: t.",
        "CREATE",
    ),
    (
        "CREATE VIEW postgres.{db}.v AS SELECT 1 AS a",
        'nothing can be made in catalog "postgres"',
        "Leave",
        "CREATE",
    ),
    ("DROP TABLE postgres.{db}.t", 'nothing can be made in catalog "postgres"', "Leave", "DROP"),
    ("USE CATALOG other", 'catalog "other" does not exist', "Register it first", "USE"),
    ("USE postgres.nowhere", 'catalog "postgres" has no database "nowhere"', "Its databases are", "USE"),
    ("USE nowhere", 'catalog "default_catalog" has no database "nowhere"', "default_database", "USE"),
    (
        "SHOW TABLES FROM postgres.nowhere",
        'catalog "postgres" has no database "nowhere"',
        "Its databases are",
        "SHOW",
    ),
    ("SHOW DATABASES FROM other", 'catalog "other" does not exist', "Register", "SHOW"),
    (
        "SHOW CREATE CATALOG default_catalog",
        'catalog "default_catalog" was never created',
        "always there",
        "SHOW",
    ),
    ("DROP CATALOG other", 'catalog "other" does not exist', "Register", "DROP"),
    ("DROP CATALOG default_catalog", '"default_catalog" cannot be dropped', "Drop its tables", "DROP"),
    (
        "USE CATALOG postgres; DROP CATALOG postgres",
        'catalog "postgres" is the current one',
        "USE CATALOG default_catalog",
        "DROP",
    ),
    (
        "SELECT id FROM postgres.{db}.`claims.members`; DROP CATALOG postgres",
        'catalog "postgres" is still used by "query_1"',
        "Drop what uses it",
        "DROP",
    ),
    (
        f"CREATE TABLE t WITH ('connector' = 'datagen') LIKE {MEMBERS}; SELECT * FROM t",
        "connector 'datagen' has no option 'url'",
        "It came along with LIKE: add (EXCLUDING OPTIONS) behind it.",
        MEMBERS,
    ),
    (
        "CREATE CATALOG postgres WITH ('type' = 'jdbc')",
        'catalog "postgres" is registered twice',
        "another name",
        "CREATE",
    ),
    ("CREATE CATALOG c WITH ('type' = 'hive')", "unknown catalog type 'hive'", "'jdbc'", "'type'"),
    ("CREATE CATALOG c WITH ('base-url' = 'x')", "the catalog has no type", "'jdbc'", "CREATE"),
    (
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'usrname' = 'x')",
        "catalog 'jdbc' has no option 'usrname'",
        "'username'",
        "'usrname'",
    ),
    (
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = '${{env:NO_SUCH_NAME}}')",
        "option 'base-url' refers to the environment variable NO_SUCH_NAME, which is not set",
        "Set it",
        "'base-url'",
    ),
    (
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://127.0.0.1:99999/',"
        " 'default-database' = 'x')",
        "option 'base-url' does not take the value 'jdbc:postgresql://127.0.0.1:99999",
        "Write 'base-url' = ",
        "'base-url'",
    ),
    (
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://127.0.0.1:1/',"
        " 'default-database' = 'x'); SELECT * FROM c.x.t",
        "cannot connect to Postgres at 127.0.0.1:1",
        "check host and port in the option 'base-url'",
        "c.x.t",
    ),
    (
        "CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = '{server}', 'default-database' = 'nope',"
        " 'username' = 'postgres', 'password' = 'postgres'); SELECT * FROM c.nope.t",
        "cannot connect to Postgres",
        "Check the option 'default-database'",
        "c.nope.t",
    ),
    (
        f"SELECT * FROM {MEMBERS} FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00' AS m",
        "FOR SYSTEM_TIME AS OF takes PROCTIME(), or a column that is computed so",
        "proc_time AS PROCTIME()",
        None,
    ),
    (
        "CREATE TABLE v (a INT, p AS PROCTIME()) WITH ('connector' = 'values');"
        " SELECT * FROM v FOR SYSTEM_TIME AS OF v.p AS w",
        '"v" has no versions, so FOR SYSTEM_TIME AS OF cannot be asked of it',
        "Leave it out",
        None,
    ),
    (
        "CREATE TABLE v (a INT, p AS PROCTIME()) WITH ('connector' = 'values'); SELECT p FROM v",
        'column "p" is PROCTIME() and stands only after FOR SYSTEM_TIME AS OF',
        "Put the time",
        "p",
    ),
]
"""What is written, what is said, a part of the hint, and the text at the place."""


@pytest.mark.parametrize(("text", "message", "hint", "at"), WRONG, ids=[case[0][:60] for case in WRONG])
def test_what_is_wrong_with_names_is_told(
    claims: Database, text: str, message: str, hint: str, at: str | None
) -> None:
    server = f"jdbc:postgresql://127.0.0.1:{claims.port}/"
    with pytest.raises(HeadwaterError) as caught:
        compile_on_paper(catalog(claims) + text.format(db=claims.name, server=server))
    error, db = caught.value, claims.name
    assert message.format(db=db) in error.message and hint.format(db=db) in error.hint, error.to_json()
    place = error.place
    assert place is not None and place.line > 8
    if at is not None:
        assert place.text[(place.mark or place.column) - 1 :].startswith(at.format(db=db))


def test_a_catalog_is_asked_only_when_something_of_it_is_named(claims: Database) -> None:
    away = catalog(claims, "away", base_url="jdbc:mysql://127.0.0.1:1/", password="nothing")
    script = away + "USE CATALOG away; SHOW CATALOGS; SHOW CURRENT DATABASE; SHOW CREATE CATALOG away;"
    program = compile_on_paper(
        script + "CREATE TABLE t (a INT) WITH ('connector' = 'values'); SELECT a FROM t;"
    )
    assert program.answers[:2] == ("default_catalog\naway", claims.name)
    assert "nothing" not in program.answers[2]
    with pytest.raises(HeadwaterError) as caught:
        compile_on_paper(script + "SELECT a FROM t")
    assert caught.value.message.startswith("cannot connect to MySQL at 127.0.0.1:1")


def test_a_dropped_catalog_can_be_registered_anew(claims: Database) -> None:
    text = catalog(claims) + f"DESCRIBE postgres.{claims.name}.`claims.members`; DROP CATALOG postgres;"
    program = compile_on_paper(text * 2 + "SHOW CATALOGS; DROP CATALOG IF EXISTS postgres;")
    assert program.answers[0] == program.answers[1] and program.answers[2] == "default_catalog"

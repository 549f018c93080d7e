"""Names of one to four parts, and what they mean where a script stands.

Oracle: Flink's documentation of catalogs, written out by hand.
"""

from __future__ import annotations

from typing import Any

import pytest

from headwater.errors import Place, SqlError
from headwater.sql.names import Name, Outside, Session, parts_of
from headwater.sql.script import parse_script
from headwater.sql.statements import CreateCatalog, Describe, Drop, Show, Statement, Use

HERE = Place("f.sql", 1, 1)


def one(text: str) -> Statement:
    (statement,) = parse_script(text)
    return statement


def failure(text: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        parse_script(text, "f.sql")
    return caught.value


def session(catalog: str = "default_catalog", database: str | None = None) -> Session:
    """A session that knows the catalog `pg`, and stands somewhere."""
    made = Session()
    made.catalogs["pg"] = "shop"
    made.use(catalog, database)
    return made


def meant(at: Session, *parts: str, declared: tuple[str, ...] = ()) -> str | Outside:
    return at.meant(parts, lambda name: name in declared, HERE)


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (("orders",), "orders"),
        (("bank", "holding"), "bank.holding"),
        (("default_database", "orders"), "orders"),
        (("default_catalog", "default_database", "orders"), "orders"),
        (("Default_Catalog", "DEFAULT_DATABASE", "orders"), "orders"),
        (("pg", "shop", "orders"), Outside("pg", "shop", "orders")),
        (("PG", "shop", "claims.members"), Outside("pg", "shop", "claims.members")),
        (("pg", "shop", "claims", "members"), Outside("pg", "shop", "claims.members")),
    ],
)
def test_where_a_script_begins_names_are_its_own(parts: tuple[str, ...], wanted: str | Outside) -> None:
    assert meant(session(), *parts) == wanted


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (("orders",), Outside("pg", "shop", "orders")),
        (("claims.members",), Outside("pg", "shop", "claims.members")),
        (("other", "orders"), Outside("pg", "other", "orders")),
        (("default_catalog", "default_database", "orders"), "orders"),
    ],
)
def test_in_a_registered_catalog_names_are_its_tables(parts: tuple[str, ...], wanted: str | Outside) -> None:
    assert meant(session("pg"), *parts) == wanted


def test_use_of_a_database_is_where_bare_names_lie() -> None:
    assert meant(session("pg", "other"), "orders") == Outside("pg", "other", "orders")


def test_what_the_script_declared_wins_wherever_it_stands() -> None:
    assert meant(session("pg"), "orders", declared=("orders",)) == "orders"
    assert meant(session(), "pg", "shop", "orders", declared=("pg.shop.orders",)) == "pg.shop.orders"


def test_an_unknown_catalog_is_told_the_nearest() -> None:
    with pytest.raises(SqlError) as caught:
        meant(session(), "pgg", "shop", "orders")
    assert caught.value.message == 'catalog "pgg" does not exist'
    assert caught.value.hint == 'Did you mean "pg"?' and caught.value.place == HERE
    with pytest.raises(SqlError) as caught:
        session().get("other", HERE)
    assert caught.value.detail == "The catalogs are default_catalog, pg."
    assert caught.value.hint == "Register it first: CREATE CATALOG other WITH (...)."


def test_without_any_catalog_three_parts_are_a_name_like_others() -> None:
    assert Session().meant(("a", "b", "c"), lambda name: False, HERE) == "a.b.c"


def test_a_name_keeps_its_parts() -> None:
    statement = one("DESCRIBE postgres.postgres.`claims.members`")
    assert isinstance(statement, Describe)
    assert statement.name == "postgres.postgres.claims.members"
    assert parts_of(statement.name) == ("postgres", "postgres", "claims.members")
    assert parts_of("a.b") == ("a.b",) and Name("a", "b") == "a.b"


def test_create_catalog_in_all_its_forms() -> None:
    plain = one("CREATE CATALOG pg WITH ('type' = 'jdbc', 'password' = 'x')")
    assert isinstance(plain, CreateCatalog)
    assert (plain.name, plain.if_not_exists) == ("pg", False)
    assert plain.options == {"type": "jdbc", "password": "x"} and "'x'" not in repr(plain)
    assert plain.option_places["password"].column == 42
    full = one("CREATE CATALOG IF NOT EXISTS `my pg` COMMENT 'it''s mine' WITH ('type' = 'jdbc')")
    assert isinstance(full, CreateCatalog) and (full.name, full.if_not_exists) == ("my pg", True)


def test_use_show_and_drop() -> None:
    where: dict[str, Any] = {"place": HERE, "text": ""}
    for text, expected in {
        "USE CATALOG pg": Use("pg", **where),
        "USE shop": Use(None, "shop", **where),
        "USE pg.shop": Use("pg", "shop", **where),
        "USE catalog": Use(None, "catalog", **where),
        "USE catalog.shop": Use("catalog", "shop", **where),
        "SHOW CATALOGS": Show("catalogs", **where),
        "SHOW CATALOGS LIKE 'p%'": Show("catalogs", pattern="p%", **where),
        "SHOW DATABASES": Show("databases", **where),
        "SHOW DATABASES FROM pg": Show("databases", within="pg", **where),
        "SHOW TABLES IN pg.shop": Show("tables", within="pg.shop", **where),
        "SHOW TABLES FROM shop NOT LIKE 'a_'": Show("tables", None, "shop", "a_", True, **where),
        "SHOW VIEWS LIKE 'x'": Show("views", pattern="x", **where),
        "SHOW CURRENT CATALOG": Show("current catalog", **where),
        "SHOW CURRENT DATABASE": Show("current database", **where),
        "SHOW CREATE CATALOG pg": Show("create catalog", "pg", **where),
        "DROP CATALOG pg": Drop("catalog", "pg", **where),
        "DROP CATALOG IF EXISTS pg": Drop("catalog", "pg", True, **where),
    }.items():
        assert one(text) == expected, text


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("CREATE CATALOG", "expected a catalog name", 15),
        ("CREATE CATALOG pg", "expected WITH", 18),
        ("CREATE CATALOG pg WITH ('type' = 'jdbc') LIKE x", "unexpected LIKE", 42),
        ("CREATE CATALOG a.b WITH ()", "expected WITH", 17),
        ("CREATE CATALGO pg WITH ()", "expected TABLE or VIEW", 8),
        ("USE", "expected CATALOG or a database name", 4),
        ("USE CATALOG a.b", "unexpected .", 14),
        ("USE a.b.c", "a.b.c has too many parts", 5),
        ("USE MODULES core", "USE MODULES is not supported yet", 1),
        ("SHOW TABLES FROM a.b.c", "a.b.c has too many parts", 18),
        ("SHOW DATABASES FROM a.b", "a.b has too many parts", 21),
        ("SHOW TABLES LIKE x", "expected a pattern", 18),
        ("SHOW TABLES NOT 'x'", "unexpected NOT", 13),
        ("SHOW CURRENT TABLE", "expected what to show", 6),
        ("SHOW CREATE CATALOG", "expected a catalog name", 20),
        ("DROP CATALOG", "expected a catalog name", 13),
        ("DROP CATALOG a, b", "unexpected ,", 15),
    ],
)
def test_what_is_wrong_is_placed(text: str, message: str, column: int) -> None:
    error = failure(text)
    assert error.message == message
    assert error.place is not None and error.place.column == column


def test_a_misspelt_catalog_gets_the_word() -> None:
    assert failure("CREATE CATALGO pg WITH ()").hint == "Did you mean CATALOG?"

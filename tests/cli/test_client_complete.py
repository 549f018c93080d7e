"""What Tab offers. Oracle: lists written by hand; options are held against the dataclasses that declare them."""

from __future__ import annotations

import pytest

from headwater.cli.client.complete import complete
from headwater.options import options_of
from headwater.runtime.conversation import Known
from headwater.sources.registry import SOURCE_TYPES

KNOWN = Known(
    {"clicks": ("id", "page"), "pages": ("page", "n"), "shop.totals": ("total",)},
    frozenset({"pages"}),
    ("pg",),
    ("slug",),
    ("into-out",),
)

TABLE = "CREATE TABLE t (a INT) WITH ("
KAFKA = TABLE + "'connector' = 'kafka', "


def offered(typed: str) -> list[str]:
    """What is offered at the bar, or at the end."""
    at = typed.find("|") if "|" in typed else len(typed)
    return [one.text for one in complete(typed.replace("|", ""), at, KNOWN)]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT 1; sho", ["show tables", "show views"]),
        ("SHOW CRE", ["CREATE TABLE", "CREATE VIEW", "CREATE CATALOG"]),
        ("CREATE TA", ["TABLE"]),
        ("SELECT * FROM ", ["clicks", "pages", "shop.totals", "pg"]),
        ("SELECT * FROM cl", ["clicks"]),
        ("SELECT * FROM clicks, p", ["pages", "pg"]),
        ("INSERT INTO ", ["clicks", "pages", "shop.totals", "pg"]),
        ("DESCRIBE p", ["pages", "pg"]),
        ("SELECT | FROM clicks", ["id", "page"]),
        ("SELECT c.| FROM clicks c", ["id", "page"]),
        ("SELECT x.p| FROM clicks AS x JOIN pages y", ["page"]),
        ("SELECT cou", ["count("]),
        ("SELECT slu", ["slug("]),
        ("SUBSC", ["SUBSCRIBE TO"]),
        ("SUBSCRIBE TO p", ["pages", "pg"]),
        ("SELECT * FROM sh", ["shop.totals"]),
        ("SELECT * FROM shop.", ["totals"]),
        ("SELECT id FROM clicks WHE", ["WHEN", "WHERE"]),
        ("CREATE TABLE t (a bi", ["bigint", "binary"]),
        ("STOP JOB '", ["into-out'"]),
        ("SET 'sql-c", ["sql-client.execution.result-mode' = '"]),
        ("SET 'sql-client.execution.result-mode' = 'ta", ["table'", "tableau'"]),
        ("\\d", ["\\d", "\\dt", "\\dv", "\\dj"]),
        (TABLE, ["'connector' = '"]),
        (TABLE + "'connector' = 'da", ["datagen'"]),
        (KAFKA + "'scan.startup.mode' = 'g", ["group-offsets'"]),
        (KAFKA + "'format' = 'js", ["json'"]),
        (KAFKA + "'format' = 'json', 'json.ig", ["json.ignore-parse-errors' = '"]),
        (KAFKA + "'format' = 'json', 'json.ignore-parse-errors' = '", ["true'", "false'"]),
        ("CREATE CATALOG pg WITH ('type' = '", ["jdbc'"]),
        ("SELECT 'text", []),
        ("SELECT nothing_like_this", []),
    ],
)
def test_what_fits_is_offered(typed: str, first: list[str]) -> None:
    assert offered(typed)[: len(first)] == first
    if not first:
        assert offered(typed) == []


@pytest.mark.parametrize("connector", sorted(SOURCE_TYPES))
def test_all_options_of_a_connector_are_offered_but_those_that_are_given(connector: str) -> None:
    declared = [o.name for o, _ in options_of(SOURCE_TYPES[connector].options) if not o.prefix]
    given, wanted = declared[0], declared[1:]
    names = [text.split("'")[1] for text in offered(f"{TABLE}'connector' = '{connector}', '{given}' = 'x', ")]
    assert set(wanted) <= set(names)
    assert given not in names and "connector" not in names


def test_what_is_offered_replaces_what_was_typed() -> None:
    [one] = complete("SELECT * FROM cl", 16, KNOWN)
    assert (one.text, one.back, one.about) == ("clicks", 2, "table")

"""The difference of two reads, and options and errors of the jdbc source that need no server of their own.

Oracle: bags in Python; the texts below.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import OptionError, SourceError
from headwater.jdbc_url import Address, read_url, with_database
from headwater.log.text_values import RAW
from headwater.options import Secret, read_options
from headwater.sources.base import SourceTable, Unreachable
from headwater.sources.jdbc.catalog import JdbcCatalogOptions, table_name, table_options
from headwater.sources.jdbc.difference import difference, digests_of
from headwater.sources.jdbc.mysql_types import array_of, column_of
from headwater.sources.jdbc.options import JdbcSourceOptions, group_of, only_inserts, origin_of
from headwater.sources.jdbc.refreshing import Refresher
from headwater.sources.jdbc.server import not_connected
from tests.ends.postgres_world import schema, wait_for


def kept(folder: Path, rows: list[int], *, per_file: int) -> Path:
    """A read of some rows, in files of a size."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*"):
        path.unlink()
    for number, begin in enumerate(range(0, len(rows), per_file)):
        some = rows[begin : begin + per_file]
        pq.write_table(pa.table({"n": pa.array(some, pa.int64())}), folder / f"rows-{number}.parquet")
        pq.write_table(digests_of([str(row).encode() for row in some]), folder / f"digests-{number}.parquet")
    return folder


def changed(old: Path, new: Path, rows_at_once: int) -> Counter[int]:
    found: Counter[int] = Counter()
    for piece in difference(old, new, rows_at_once=rows_at_once):
        for row in piece.rows.column("n").to_pylist():
            found[row] += piece.weight
    return found


bags = st.lists(st.integers(0, 12), max_size=25)


@settings(deadline=None, max_examples=40)
@given(bags, bags, st.integers(1, 8), st.sampled_from([1, 4, 1000]))
def test_the_difference_of_two_reads_leads_from_one_to_the_other(
    tmp_path_factory: pytest.TempPathFactory, old: list[int], new: list[int], per_file: int, at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("reads")
    found = changed(
        kept(folder / "old", old, per_file=per_file), kept(folder / "new", new, per_file=3), at_once
    )
    wanted = Counter(new)
    wanted.subtract(Counter(old))
    assert found == Counter({row: weight for row, weight in wanted.items() if weight})


def read(**given: str) -> JdbcSourceOptions:
    named = {"url": "jdbc:postgresql://db:5432/shop", "table-name": "orders"}
    named |= {key.replace("__", ".").replace("_", "-"): value for key, value in given.items()}
    return read_options(JdbcSourceOptions, named, owner="connector 'jdbc'", place=None)


def test_options_of_flink_are_understood() -> None:
    options = read(
        driver="org.postgresql.Driver",
        scan__fetch_size="100",
        scan__auto_commit="false",
        scan__partition__column="id",
        scan__partition__num="4",
        scan__partition__lower_bound="0",
        scan__partition__upper_bound="100",
        lookup__cache="PARTIAL",
        lookup__partial_cache__max_rows="10",
        lookup__cache__ttl="10 min",
        lookup__max_retries="1",
        sink__buffer_flush__max_rows="3",
        connection__max_retry_timeout="30 s",
    )
    assert only_inserts(options) and not only_inserts(read(scan__refresh_interval="10 s"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scan.refresh-interval": "0 s"}, "option 'scan.refresh-interval' must be above zero"),
        ({"scan.refresh-interval": "soon"}, "option 'scan.refresh-interval' does not take the value 'soon'"),
        ({"scan.partition.num": "4"}, "option 'scan.partition.column' is missing"),
        ({"scan.fetchsize": "4"}, "connector 'jdbc' has no option 'scan.fetchsize'"),
        ({"lookup.cache": "ALL"}, "option 'lookup.cache' does not take the value 'ALL'"),
    ],
)
def test_wrong_options_are_named(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(**given)
    assert caught.value.message == message and (caught.value.hint or caught.value.detail)


@pytest.mark.parametrize(
    ("url", "detail"),
    [
        (
            "postgresql://db/shop",
            "Only urls that start with jdbc:postgresql:// or jdbc:mysql:// or jdbc:mariadb:// are understood.",
        ),
        (
            "jdbc:oracle://db/shop",
            "Only urls that start with jdbc:postgresql:// or jdbc:mysql:// or jdbc:mariadb:// are understood.",
        ),
        ("jdbc:mysql://db/", "It names a host and one database, and no user."),
        ("jdbc:mysql://ann:hunter2@db/shop", "It names a host and one database, and no user."),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url: str, detail: str) -> None:
    with pytest.raises(OptionError) as caught:
        group_of(read(url=url))
    assert caught.value.detail == detail and "hunter2" not in caught.value.message


def test_tables_of_one_database_are_one_group_whoever_comes() -> None:
    assert group_of(read()) == "postgresql db:5432/shop"
    assert group_of(read(url="jdbc:mysql://127.0.0.1/shop?useSSL=false")) == "mysql localhost:3306/shop"
    hidden = group_of(read(url=Secret("jdbc:mysql://db/shop")))
    assert hidden.startswith("mysql ") and "shop" not in hidden


def test_a_table_is_read_anew_only_if_it_is_another_one_or_begins_to_be_read_again() -> None:
    assert origin_of(read()) == origin_of(read(username="ann", lookup__max_retries="1"))
    assert origin_of(read(scan__refresh_interval="1 s")) == origin_of(read(scan__refresh_interval="9 s"))
    elsewhere = read(url="jdbc:postgresql://db/shop?currentSchema=x")
    others = (read(scan__refresh_interval="1 s"), read(table_name="lines"), elsewhere)
    assert len({origin_of(read()), *map(origin_of, others)}) == 4


def catalog(**given: str) -> JdbcCatalogOptions:
    named = {"base-url": "jdbc:postgresql://db:5432/", "default-database": "shop"}
    named |= {key.replace("_", "-"): value for key, value in given.items()}
    return read_options(JdbcCatalogOptions, named, owner="catalog 'jdbc'", place=None)


def test_a_catalog_names_tables_and_their_options() -> None:
    assert table_name(catalog(), "members") == "public.members"
    assert table_name(catalog(), "claims.members") == "claims.members"
    assert table_name(catalog(base_url="jdbc:mysql://db"), "members") == "members"
    given = {
        "base-url": "jdbc:postgresql://${env:HOST}:5432",
        "password": "${env:PW}",
        "default-database": "x",
    }
    assert table_options(given, "my db", "claims.members") == {
        "connector": "jdbc",
        "url": "jdbc:postgresql://${env:HOST}:5432/my%20db",
        "table-name": "claims.members",
        "password": "${env:PW}",
    }
    assert with_database("jdbc:mysql://db/?useSSL=true", "shop") == "jdbc:mysql://db/shop?useSSL=true"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"base_url": "jdbc:postgresql://db:5432/shop"}, "option 'base-url' names a database"),
        ({"base_url": "jdbc:oracle://db"}, "option 'base-url' does not take the value 'jdbc:oracle://db'"),
        ({"base_url": "jdbc:mysql://ann:hunter2@db"}, "option 'base-url' does not take the value '***'"),
        ({"property_version": "2"}, "option 'property-version' does not take the value '2'"),
        ({"basurl": "x"}, "catalog 'jdbc' has no option 'basurl'"),
    ],
)
def test_wrong_catalogs_are_told(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        catalog(**given)
    assert caught.value.message == message and "hunter2" not in repr(caught.value.to_json())


@pytest.mark.parametrize(
    ("kind", "full", "spark"),
    [
        ("tinyint", "tinyint(1)", "boolean"),
        ("tinyint", "tinyint unsigned", "smallint"),
        ("int", "int unsigned", "bigint"),
        ("int", "int(11)", "int"),
        ("bigint", "bigint(20) unsigned", "decimal(20,0)"),
        ("decimal", "decimal(10,2)", "decimal(10,2)"),
        ("datetime", "datetime(6)", "timestamp_ntz"),
        ("timestamp", "timestamp", "timestamp"),
        ("enum", "enum('a','b')", "string"),
        ("json", "json", "string"),
        ("longblob", "longblob", "binary"),
        ("bit", "bit(8)", "binary"),
        ("year", "year", "int"),
        ("time", "time", "string"),
    ],
)
def test_types_of_mysql(kind: str, full: str, spark: str) -> None:
    assert column_of("c", kind, full, precision=10, scale=2).type == spark


def test_what_mysql_writes_is_read_as_it_is_wanted() -> None:
    assert column_of("c", "decimal", "decimal(65,2)", precision=65, scale=2).type == "string"
    assert column_of("c", "point", "point").unread
    truth = column_of("c", "tinyint", "tinyint(1)")
    assert truth.family("int") == "number" and truth.family("boolean") == "bool"
    assert array_of(["0", "1", None, "-5"], truth, wants_truth=True).to_pylist() == [
        "false",
        "true",
        None,
        "true",
    ]
    bit = column_of("c", "bit", "bit(1)")
    assert array_of([b"\0", b"\1", None], bit, wants_truth=True).to_pylist() == ["false", "true", None]
    blob = column_of("c", "blob", "blob")
    assert blob.families == (RAW,) and array_of([b"\xff"], blob, wants_truth=False).to_pylist() == [b"\xff"]


def test_a_server_that_may_come_back_is_told_from_one_that_refuses() -> None:
    address = read_url("jdbc:mysql://db/shop", kinds=("mysql",))
    assert isinstance(address, Address)
    gone = not_connected(
        address, "Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)", None
    )
    assert isinstance(gone, Unreachable) and "Start the server" in gone.hint
    refused = not_connected(address, "Access denied for user 'ann' (hunter2)", Secret("hunter2"))
    assert type(refused) is SourceError and "hunter2" not in refused.detail
    assert refused.hint == "Check the options 'username' and 'password'."


def test_a_server_that_does_not_answer_is_asked_again() -> None:
    calls: list[bool] = []
    answered = threading.Event()

    def refresh(tables: Sequence[SourceTable], always: bool) -> None:
        calls.append(always)
        if len(calls) < 3:
            raise Unreachable("postgres does not answer")
        answered.set()

    table = SourceTable("t", schema("a int"), read(scan__refresh_interval="5 ms"))
    refresher = Refresher([table], refresh, just_read=set())
    try:
        assert answered.wait(120)
        wait_for(lambda: refresher.trouble is None)
        refresher.check()
    finally:
        refresher.stop()
    assert calls[:3] == [False, False, False]


def test_who_asks_hears_of_trouble_at_once() -> None:
    def refresh(tables: Sequence[SourceTable], always: bool) -> None:
        raise Unreachable("postgres does not answer")

    table = SourceTable("t", schema("a int"), read(scan__refresh_interval="1 h"))
    refresher = Refresher([table], refresh, just_read={"t"})
    try:
        with pytest.raises(Unreachable):
            refresher.ask()
    finally:
        refresher.stop()

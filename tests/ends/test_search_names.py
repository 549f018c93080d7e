"""Options, index names and mappings without a server. Oracle: the texts below."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from headwater.errors import OptionError, SinkError
from headwater.options import Secret
from headwater.sinks.search.mapping import conflicts, properties
from headwater.sinks.search.names import check_key, fixed_name, ids, index_name, indices
from headwater.sinks.search.options import bytes_of, group_of
from tests.ends.postgres_world import schema
from tests.ends.search_world import opened, search_table

HERE = "http://localhost:9200"
ROWS = pa.record_batch(
    {
        "id": pa.array([1, 2], pa.int32()),
        "day": pa.array([date(2024, 3, 9), date(2024, 12, 31)]),
        "at": pa.array([datetime(2024, 3, 9, 23, 5, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        "kind": pa.array(["a", None]),
    }
)
COLUMNS = schema("id int, day date, at timestamp, kind string", "id", "day")


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ("claims", ["claims", "claims"]),
        ("claims-{id}", ["claims-1", "claims-2"]),
        ("{day|yyyy.MM}-claims", ["2024.03-claims", "2024.12-claims"]),
        ("c-{at|yyyyMMddHHmm}-{id}", ["c-202403092305-1", "c-202403092305-2"]),
        ("c-{ kind }", ["c-a", None]),
    ],
)
def test_a_row_goes_to_the_index_its_values_name(index: str, names: list[str | None]) -> None:
    table = search_table(HERE, COLUMNS, {"index": index})
    assert indices(index_name(table), ROWS).to_pylist() == names
    assert fixed_name(index_name(table)) == (index if "{" not in index else None)


def test_an_id_is_made_of_the_keys_values() -> None:
    table = search_table(HERE, COLUMNS, {"index": "i", "document-id.key-delimiter": "$"})
    assert ids(table, ROWS).to_pylist() == ["1$2024-03-09", "2$2024-12-31"]
    with pytest.raises(
        OptionError, match=r"column 'tags' of type array<int> cannot be part of a document's id"
    ):
        check_key(search_table(HERE, schema("tags array<int>", "tags"), {"index": "i"}))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("c-{now()|yyyy}", "option 'index' cannot hold {now()}"),
        ("c-{nope}", "option 'index' names column 'nope', which the table does not have"),
        ("c-{id|yyyy}", "column 'id' of type int has no date for option 'index'"),
        ("c-{day|yyyy-ww}", "'ww' in the date pattern of option 'index' is not known"),
        ("c-{day", "option 'index' does not take the value 'c-{day'"),
    ],
)
def test_a_name_that_cannot_be_made_is_refused(index: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        index_name(search_table(HERE, COLUMNS, {"index": index}))
    assert caught.value.message == message


def test_hosts_make_a_group_and_never_show_a_secret() -> None:
    def group(hosts: str) -> str:
        return group_of(search_table(hosts, COLUMNS, {"index": "i"}).options)

    assert (
        group("http://b:1;http://a") == group("http://a:80/; http://b:1") == "search-http://a:80,http://b:1"
    )
    assert "vault" not in group(Secret("http://vault:1"))
    with pytest.raises(OptionError) as caught:
        group("localhost:9200")
    assert caught.value.hint == "Did you mean 'http://localhost:9200'?"
    with pytest.raises(OptionError, match="option 'hosts' holds a user") as caught:
        group("http://ann:geheim@a:1")
    assert "geheim" not in f"{caught.value.message}{caught.value.detail}{caught.value.hint}"


@pytest.mark.parametrize(
    ("text", "size"), [("2mb", 2 << 20), ("500 kb", 500 << 10), ("7", 7), ("1g", 1 << 30)]
)
def test_sizes(text: str, size: int) -> None:
    assert bytes_of(text, name="n", place=None) == size


def test_a_size_that_is_none_is_refused() -> None:
    with pytest.raises(OptionError, match="option 'n' does not take the value '2 apples'"):
        bytes_of("2 apples", name="n", place=None)


def test_a_column_fits_where_nothing_of_it_is_lost() -> None:
    wanted = properties(schema("n int, d double, s string, o struct<a:int,b:date>"))

    def clashes(**there: object) -> list[tuple[str, str, str]]:
        return list(conflicts(wanted, there))  # type: ignore[arg-type]  # a mapping as a server tells it

    assert (
        clashes(n={"type": "long"}, d={"type": "scaled_float"}, s={"type": "keyword"}, x={"type": "ip"}) == []
    )
    assert clashes(n={"type": "short"}) == [("n", "short", "integer")]
    assert clashes(d={"type": "long"}) == [("d", "long", "double")]
    assert clashes(s={"type": "boolean"}, o={"type": "text"}) == [
        ("s", "boolean", "text"),
        ("o", "text", "object"),
    ]
    assert clashes(o={"properties": {"a": {"type": "text"}, "b": {"type": "long"}}}) == [
        ("o.b", "long", "date")
    ]
    assert clashes(s={"type": "annotated_text"}) == [], "of a type we do not know the server itself says"


def test_tables_of_one_cluster_must_agree_and_a_dead_one_is_named() -> None:
    one = search_table("http://127.0.0.1:1", COLUMNS, {"index": "i"})
    other = search_table("http://127.0.0.1:1", COLUMNS, {"index": "j", "username": "ann"})
    with pytest.raises(SinkError, match="differ in 'username'"):
        opened(one, other).__enter__()
    with pytest.raises(SinkError) as caught:
        opened(one).__enter__()
    assert caught.value.message == "no node of 'hosts' answers: http://127.0.0.1:1"
    assert "Connection refused" in caught.value.detail

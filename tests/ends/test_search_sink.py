"""Documents of a real OpenSearch follow their table. Oracle: what a search finds after a refresh."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headwater.errors import SinkError
from headwater.sinks import keyed
from headwater.sinks.search.batches import INDEX
from tests.ends.postgres_world import changes, schema
from tests.ends.search_world import ask, documents, opened, search_table
from tests.stage.shared import SharedOpenSearch, fresh

pytestmark = pytest.mark.services

COSTS = schema("es_key string, company string, cost double", "es_key")


def test_documents_follow_their_table(opensearch: SharedOpenSearch) -> None:
    index = opensearch.index("costs")
    table = search_table(opensearch.url, COSTS, {"index": index})
    with opened(table) as sink:
        assert sink.last_batch() is None
        sink.write([changes(table, (+1, "A", "qbe", 1.5), (+1, "B", 'q"\n', None))], 1)
        assert documents(opensearch.url, index) == {
            "A": {"es_key": "A", "company": "qbe", "cost": 1.5},
            "B": {"es_key": "B", "company": 'q"\n', "cost": None},
        }
        sink.write([changes(table, (-1, "A", "qbe", 1.5), (+1, "A", "qbe", 2.5), (-1, "B", 'q"\n', None))], 2)
        assert sink.last_batch() == 2
    assert documents(opensearch.url, index) == {"A": {"es_key": "A", "company": "qbe", "cost": 2.5}}
    assert ask(opensearch.url, "GET", f"/{index}/_doc/A")["_version"] == 2


def test_a_repeated_batch_changes_nothing_and_a_half_written_one_is_completed(
    opensearch: SharedOpenSearch,
) -> None:
    index, pipeline = opensearch.index("repeats"), fresh("repeats")
    table = search_table(opensearch.url, COSTS, {"index": index})
    rows = [(+1, "A", "a", 1.0), (+1, "B", "b", 2.0)]
    with opened(table, pipeline=pipeline) as sink:
        sink.write([changes(table, (+1, "C", "c", 3.0))], 1)
        # The half of batch 2 that a killed process had sent, by the same bulk and without the batch id.
        sink._write(sink._targets["t"], changes(table, rows[0], (-1, "C", "c", 3.0)), 2)
    with opened(table, pipeline=pipeline) as sink:
        assert sink.last_batch() == 1
        sink.write([changes(table, *rows, (-1, "C", "c", 3.0))], 2)
        sink.write([changes(table, *rows, (+1, "D", "never", 0.0))], 2)
    with opened(table, pipeline=pipeline) as sink:
        assert sink.last_batch() == 2
    assert set(documents(opensearch.url, index)) == {"A", "B"}


def test_a_late_write_of_a_replaced_process_never_wins(opensearch: SharedOpenSearch) -> None:
    index, pipeline = opensearch.index("late"), fresh("late")
    table = search_table(opensearch.url, COSTS, {"index": index})
    with opened(table, pipeline=pipeline) as late, opened(table, pipeline=pipeline) as newer:
        newer.write([changes(table, (+1, "A", "old", 0.0), (+1, "B", "old", 0.0))], 4)
        newer.write([changes(table, (-1, "A", "old", 0.0), (-1, "B", "old", 0.0), (+1, "B", "new", 1.0))], 5)
        for key in ("A", "B"):
            with pytest.raises(SinkError) as caught:
                late.write([changes(table, (+1, key, "late", 9.0))], 4)
            assert caught.value.message == f"document '{key}' of index '{index}' is newer than batch 4"
            assert "another pipeline" in caught.value.hint
    assert documents(opensearch.url, index) == {"B": {"es_key": "B", "company": "new", "cost": 1.0}}


def test_the_batch_id_is_a_document(opensearch: SharedOpenSearch) -> None:
    table, pipeline = search_table(opensearch.url, COSTS, {"index": opensearch.index()}), fresh("claims")
    with opened(table, pipeline=pipeline) as sink:
        sink.write([], 4711)
    found = [said for said in documents(opensearch.url, INDEX).values() if said["pipeline"] == pipeline]
    assert found == [{"pipeline": pipeline, "sink": f"search-{opensearch.url}", "batch_id": 4711}]


def test_without_a_key_rows_are_only_added_and_a_repeat_adds_none(opensearch: SharedOpenSearch) -> None:
    index, pipeline = opensearch.index("added"), fresh("added")
    table = search_table(opensearch.url, schema("n int"), {"index": index}, append_only=True)
    with opened(table, pipeline=pipeline) as sink:
        sink._write(sink._targets["t"], changes(table, (+1, 2), (+1, 1)), 1)
        sink.write([changes(table, (+1, 1), (+1, 2), (+1, 2))], 1)
        sink.write([changes(table, (+1, 3))], 2)
    assert sorted(said["n"] for said in documents(opensearch.url, index).values()) == [1, 2, 2, 3]
    with pytest.raises(SinkError, match="sink table 't' needs a primary key"):
        opened(search_table(opensearch.url, schema("n int"), {"index": index})).__enter__()


def test_without_a_key_a_repeat_in_another_order_leaves_nothing_behind(opensearch: SharedOpenSearch) -> None:
    name, pipeline = opensearch.index("order"), fresh("order")
    columns = schema("kind string, n int")
    table = search_table(opensearch.url, columns, {"index": f"{name}-{{kind}}"}, append_only=True)
    with opened(table, pipeline=pipeline) as sink:
        sink._write(sink._targets["t"], changes(table, (+1, "a", 1), (+1, "b", 2), (+1, "a", 1)), 1)
        sink.write([changes(table, (+1, "b", 2), (+1, "a", 1), (+1, "a", 1))], 1)
        sink.write([changes(table, (+1, "a", 1))], 2)
    assert [said["n"] for said in documents(opensearch.url, f"{name}-a").values()] == [1, 1, 1]
    assert [said["n"] for said in documents(opensearch.url, f"{name}-b").values()] == [2]


def test_a_row_whose_index_changes_is_deleted_in_the_old_one(opensearch: SharedOpenSearch) -> None:
    name = opensearch.index("moves")
    columns = schema("id int, kind string, day date", "id")
    table = search_table(opensearch.url, columns, {"index": f"{name}-{{kind}}-{{day|yyyy.MM}}"})
    march, april = date(2024, 3, 9), date(2024, 4, 1)
    with opened(table) as sink:
        sink.write([changes(table, (+1, 1, "a", march), (+1, 2, "a", march))], 1)
        sink.write([changes(table, (-1, 1, "a", march), (+1, 1, "a", april))], 2)
        with pytest.raises(SinkError, match="has no index to go to"):
            sink.write([changes(table, (+1, 3, None, april))], 3)
    assert set(documents(opensearch.url, f"{name}-a-2024.03")) == {"2"}
    assert set(documents(opensearch.url, f"{name}-a-2024.04")) == {"1"}
    mapping = ask(opensearch.url, "GET", f"/{name}-a-2024.04/_mapping")[f"{name}-a-2024.04"]["mappings"]
    assert mapping["properties"]["day"]["type"] == "date"


def test_every_type_is_mapped_written_and_found(opensearch: SharedOpenSearch) -> None:
    index = opensearch.index("types")
    columns = schema(
        "id int, f float, d double, small decimal(10,0), wide decimal(30,10), yes boolean, at timestamp, "
        "there timestamp_ntz, day date, raw binary, tags array<string>, inner struct<a:int,b:string>, m map<string,int>",
        "id",
    )
    table = search_table(opensearch.url, columns, {"index": index})
    noon = datetime(2024, 1, 2, 12, 0, 0, 120000)
    row: tuple[Any, ...] = (
        *(+1, 1, 0.5, math.nan, Decimal(7), Decimal("0.0000000001"), True, noon.replace(tzinfo=UTC), noon),
        *(date(2024, 1, 2), b"\xff", ["x", "y"], {"a": 1, "b": "two words"}, [("k", 2)]),
    )
    with opened(table) as sink:
        sink.write([changes(table, row)], 1)
    assert documents(opensearch.url, index)["1"] == {
        **{"id": 1, "f": 0.5, "d": "NaN", "small": 7, "wide": 1e-10, "yes": True, "day": "2024-01-02"},
        **{
            "at": "2024-01-02 12:00:00.12Z",
            "there": "2024-01-02 12:00:00.12",
            "raw": "/w==",
            "tags": ["x", "y"],
        },
        **{"inner": {"a": 1, "b": "two words"}, "m": {"k": 2}},
    }
    for query in (
        {"range": {"at": {"gte": "2024-01-02T12:00:00Z", "lt": "2024-01-02T12:00:01Z"}}},
        {"range": {"there": {"gte": "2024-01-02", "lt": "2024-01-03"}}},
        {"term": {"inner.b.keyword": "two words"}},
        {"match": {"inner.b": "words"}},
        {"term": {"small": 7}},
        {"term": {"m.k": 2}},
    ):
        assert ask(opensearch.url, "POST", f"/{index}/_count", {"query": query})["count"] == 1, query


def test_an_existing_index_that_cannot_hold_the_rows_is_found_at_the_start(
    opensearch: SharedOpenSearch,
) -> None:
    index = opensearch.index("conflict")
    ask(opensearch.url, "PUT", f"/{index}", {"mappings": {"properties": {"cost": {"type": "long"}}}})
    with pytest.raises(SinkError) as caught:
        opened(search_table(opensearch.url, COSTS, {"index": index})).__enter__()
    assert caught.value.message == f"field 'cost' of index '{index}' cannot hold what sink table 't' writes"
    assert caught.value.detail == "The index maps it to long, the column needs double."
    strict = opensearch.index("strict")
    ask(opensearch.url, "PUT", f"/{strict}", {"mappings": {"dynamic": "strict", "properties": {}}})
    with pytest.raises(SinkError, match=f"index '{strict}' has no field 'es_key' and takes no new ones"):
        opened(search_table(opensearch.url, COSTS, {"index": strict})).__enter__()


def test_columns_an_index_does_not_know_are_mapped(opensearch: SharedOpenSearch) -> None:
    index = opensearch.index("wider")
    with opened(search_table(opensearch.url, schema("id int", "id"), {"index": index})):
        pass
    with opened(search_table(opensearch.url, schema("id int, at timestamp", "id"), {"index": index})):
        pass
    found = ask(opensearch.url, "GET", f"/{index}/_mapping")[index]["mappings"]["properties"]
    assert {name: said["type"] for name, said in found.items()} == {"id": "integer", "at": "date"}


def test_a_document_that_is_refused_for_good_is_named(opensearch: SharedOpenSearch) -> None:
    index = opensearch.index("refused")
    ask(opensearch.url, "PUT", f"/{index}", {"mappings": {"properties": {"company": {"type": "ip"}}}})
    table = search_table(opensearch.url, COSTS, {"index": index})
    with opened(table) as sink, pytest.raises(SinkError) as caught:
        sink.write([changes(table, (+1, "A", "no address", 1.0))], 1)
    assert caught.value.message == f"field 'company' of document 'A' was refused by index '{index}'"
    assert "no address" in caught.value.detail and "CAST the column" in caught.value.hint


def test_a_batch_goes_in_requests_of_the_size_that_was_asked_for(
    opensearch: SharedOpenSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed, "PIECE_ROWS", 100)
    index = opensearch.index("many")
    given = {"index": index, "sink.bulk-flush.max-actions": "7", "sink.bulk-flush.max-size": "1 kb"}
    table = search_table(opensearch.url, schema("id int, name string", "id"), given)
    with opened(table) as sink:
        sink.write([changes(table, *((+1, number, "x" * (number % 50)) for number in range(300)))], 1)
    assert len(documents(opensearch.url, index)) == 300

"""Nodes that are busy, full, away or killed are waited for. Oracle: the documents afterwards, and what was said."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SinkError
from headwater.services.certificates import make_certificates
from headwater.services.opensearch import OpenSearchServer
from headwater.sinks.search.client import Answer
from headwater.sinks.search.sink import SearchSink
from tests.ends.kafka_world import Heard
from tests.ends.postgres_world import changes, schema, wait_for
from tests.ends.search_world import WELL, Moody, ask, documents, opened, refusal, search_table
from tests.stage.shared import SharedOpenSearch

COLUMNS = schema("id int, name string", "id")


def test_a_node_that_is_busy_is_asked_again_for_what_it_refused_only() -> None:
    busy = refusal(429, "es_rejected_execution_exception")
    moody = Moody(
        [
            (429, {"error": {"type": "circuit_breaking_exception", "reason": "too much"}}),
            (503, {}),
            (200, {"errors": True, "items": [WELL, busy, refusal(503, "unavailable_shards_exception")]}),
            (200, {"errors": True, "items": [WELL, busy]}),
        ]
    )
    waits = Heard()
    with moody.serving() as url:
        table = search_table(url, COLUMNS, {"index": "i"})
        with opened(table, waits=waits) as sink:
            sink.write([changes(table, (+1, 1, "a"), (+1, 2, "b"), (+1, 3, "c"))], 1)
            assert sink.last_batch() == 1
    assert moody.bulks == [["1", "2", "3"]] * 3 + [["2", "3"], ["3"]]
    assert waits.said == [
        f"{url} answers 429: circuit_breaking_exception: too much",
        f"{url} answers 503: no reason was given",
        f"{url} refuses 2 documents for now: es_rejected_execution_exception: for a reason",
        f"{url} refuses 1 documents for now: es_rejected_execution_exception: for a reason",
        None,
    ]


def test_a_request_that_is_too_large_is_halved() -> None:
    moody = Moody([(413, {})])
    with moody.serving() as url:
        table = search_table(url, COLUMNS, {"index": "i"})
        with opened(table) as sink:
            sink.write([changes(table, (+1, 1, "a"), (+1, 2, "b"), (+1, 3, "c"))], 1)
    assert moody.bulks == [["1", "2", "3"], ["1"], ["2", "3"]]


def test_a_login_that_is_refused_in_the_middle_is_an_error_without_the_password() -> None:
    moody = Moody([(401, {"error": "Unauthorized"})])
    with moody.serving() as url:
        table = search_table(url, COLUMNS, {"index": "i", "username": "ann", "password": "geheim"})
        with opened(table) as sink, pytest.raises(SinkError) as caught:
            sink.write([changes(table, (+1, 1, "a"))], 1)
    assert caught.value.message == f"{url} does not let this user use a bulk request"
    assert caught.value.hint == "Check 'username' and 'password'."
    assert "geheim" not in f"{caught.value.detail} {table}"


def test_the_next_node_is_asked_when_one_is_away() -> None:
    with Moody([]).serving() as url:
        table = search_table(f"http://127.0.0.1:1;{url}", COLUMNS, {"index": "i"})
        with opened(table) as sink:
            sink.write([changes(table, (+1, 1, "a"))], 1)
            assert sink.last_batch() == 1


def test_https_asks_for_a_certificate_it_knows(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    with Moody([]).serving(made) as url:
        for given in ({"ssl.ca.location": str(made.authority)}, {"allow-insecure": "true"}):
            table = search_table(url, COLUMNS, {"index": "i", **given})
            with opened(table) as sink:
                sink.write([changes(table, (+1, 1, "a"))], 1)
                assert sink.last_batch() == 1
        with pytest.raises(SinkError) as caught:
            opened(search_table(url, COLUMNS, {"index": "i"})).__enter__()
    assert "certificate verify failed" in caught.value.detail
    assert "'ssl.ca.location' names its authority" in caught.value.hint


@pytest.mark.services
def test_a_full_disk_is_waited_for(opensearch: SharedOpenSearch) -> None:
    index, waits = opensearch.index("full"), Heard()
    table = search_table(opensearch.url, COLUMNS, {"index": index})

    def block(value: bool | None) -> None:
        ask(opensearch.url, "PUT", f"/{index}/_settings", {"index.blocks.read_only_allow_delete": value})

    with opened(table, waits=waits) as sink:
        block(True)
        writing = threading.Thread(target=lambda: sink.write([changes(table, (+1, 1, "a"))], 1))
        writing.start()
        wait_for(lambda: bool(waits.said))
        block(None)
        writing.join(120)
        assert sink.last_batch() == 1
    assert "disk usage exceeded flood-stage watermark" in (waits.said[0] or "") and waits.said[-1] is None
    assert set(documents(opensearch.url, index)) == {"1"}


@pytest.mark.services
def test_a_node_that_is_killed_in_the_middle_of_a_batch_is_waited_for(tmp_path: Path) -> None:
    waits = Heard()
    with OpenSearchServer(tmp_path / "search") as server:
        given = {"index": "killed", "sink.bulk-flush.max-actions": "2"}
        table = search_table(server.url, COLUMNS, given)
        with opened(table, waits=waits) as sink:
            sink.write([changes(table, *((+1, number, "old") for number in range(0, 1000, 2)))], 1)
            moves = [(+1, number, "new") for number in range(1000)]
            moves += [(-1, number, "old") for number in range(0, 1000, 2)]
            killed_after(3, server, sink)
            writing = threading.Thread(target=lambda: sink.write([changes(table, *moves)], 2))
            writing.start()
            wait_for(lambda: bool(waits.said))
            server.start()
            writing.join(120)
            assert sink.last_batch() == 2
        found = documents(server.url, "killed")
        assert len(found) == 1000 and {said["name"] for said in found.values()} == {"new"}
    assert "does not answer" in (waits.said[0] or "") and waits.said[-1] is None


def killed_after(requests: int, server: OpenSearchServer, sink: SearchSink) -> None:
    """Kill the node as soon as it has answered so many further requests of a sink."""
    client = sink._patient.client
    real, answered = client.ask, itertools.count(1)

    def asked(*given: Any, **named: Any) -> Answer:
        answer = real(*given, **named)
        if next(answered) == requests:
            server.kill()
        return answer

    client.ask = asked  # type: ignore[method-assign]  # for this sink only

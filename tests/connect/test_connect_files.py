"""Files of connectors: both forms, references, and what is wrong with them. Oracle: written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.cli.complain import error_text
from headwater.connect.files import connector_of, read_connector, without
from headwater.connect.status import Part, status_of
from headwater.connect.troubles import hint_for, reason_of
from headwater.errors import ConnectError, OptionError
from tests.pipeline.world import command
from tests.stage.shared import SharedKafka, SharedOpenSearch

FILE = "io.debezium.connector.postgresql.PostgresConnector"
OPTIONS = {"connector.class": FILE, "plugin.name": "pgoutput", "topic.prefix": "p"}


def test_both_forms_of_a_file_are_the_same_connector() -> None:
    nested = connector_of(json.dumps({"name": "c", "config": OPTIONS}), "f")
    flat = connector_of(json.dumps({"name": "c", **OPTIONS}), "f")
    assert nested == flat and nested.name == "c" and nested.config == OPTIONS
    inside = connector_of(json.dumps({"config": {"name": "c", **OPTIONS}}), "f")
    assert inside == nested


def test_numbers_and_truths_become_text() -> None:
    text = json.dumps({"name": "c", "config": {**OPTIONS, "tasks.max": 1, "tombstones.on.delete": False}})
    config = connector_of(text, "f").config
    assert (config["tasks.max"], config["tombstones.on.delete"]) == ("1", "false")


def test_references_are_resolved_and_those_of_connect_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text("open\\1sesame\n")
    monkeypatch.setenv("CLAIMS_HOST", "db.example")
    config = {
        **OPTIONS,
        "database.hostname": "${env:CLAIMS_HOST}",
        "database.password": f"${{file:{tmp_path}/password}}",
        "transforms.route.topic.format": "${topic}-${timestamp}",
        "other": "${vault:a/b:c} ${file:/etc/x.properties:key}",
    }
    found = connector_of(json.dumps({"name": "c", "config": config}), "f")
    assert found.config["database.hostname"] == "db.example"
    assert found.config["database.password"] == "open\\1sesame"
    assert found.config["transforms.route.topic.format"] == "${topic}-${timestamp}"
    assert found.config["other"] == config["other"]
    assert set(found.hidden) == {"db.example", "open\\1sesame"}
    assert "sesame" not in repr(found)


def test_a_reference_to_nothing_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOBODY_SET_THIS", raising=False)
    text = json.dumps({"name": "c", "config": {**OPTIONS, "database.password": "${env:NOBODY_SET_THIS}"}})
    with pytest.raises(OptionError, match=r"option 'database\.password' refers to the environment variable"):
        connector_of(text, "f")


@pytest.mark.parametrize(
    ("text", "message", "detail"),
    [
        ("[]", "describes no connector", "It holds no object."),
        ('{"name": "c", "config": []}', "describes no connector", "'config' is no object"),
        (
            '{"name": "c", "config": {}, "x": 1}',
            "describes no connector",
            "Beside 'name' and 'config' it has x.",
        ),
        (f'{{"connector.class": "{FILE}"}}', "describes no connector", "It has no name."),
        (
            '{"name": "c", "config": {"a": "b"}}',
            "describes no connector",
            "It has no option 'connector.class'",
        ),
        ('{"name": "c", "config": {"a": null}}', "describes no connector", "Option 'a' is neither text nor"),
        ('{"name": "c", "a": "1", "a": "2"}', "option 'a' stands twice", ""),
    ],
)
def test_a_file_that_is_no_connector_says_why(text: str, message: str, detail: str) -> None:
    with pytest.raises(ConnectError) as raised:
        connector_of(text, "f.json")
    assert message in raised.value.message and "f.json" in raised.value.message
    assert detail in raised.value.detail
    assert raised.value.hint


def test_a_slip_in_the_json_is_shown_with_line_and_column_and_without_secrets() -> None:
    text = '{"name": "c",\n "config": {"database.password": "sesame" "a": "b"}}'
    with pytest.raises(ConnectError) as raised:
        connector_of(text, "f.json")
    place = raised.value.place
    assert place is not None and (place.line, place.column) == (2, 43)
    assert "at line 2, column 43" in raised.value.detail
    assert "sesame" not in error_text(raised.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="cannot be read"):
        read_connector(tmp_path / "nothing.json")


def test_translate_prints_json_alone_and_notes_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "register.json"
    old = {"connector.class": FILE, "database.server.name": "p", "database.password": "sesame"}
    file.write_text(json.dumps({"name": "c", "config": old}))
    ran = command("connect", "translate", file)
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "name": "c",
        "config": {
            "connector.class": FILE,
            "topic.prefix": "p",
            "database.password": "sesame",
            "plugin.name": "pgoutput",
        },
    }
    assert "note: 'database.server.name' is now called 'topic.prefix'\n" in ran.err
    assert "sesame" not in ran.err


def test_a_cluster_that_is_down_is_told(tmp_path: Path) -> None:
    ran = command("connect", "list", "--url", "http://ann:sesame@127.0.0.1:9")
    assert ran.code == 1
    assert "error: kafka connect does not answer at http://127.0.0.1:9\n" in ran.err
    assert "hint: Check --url" in ran.err and "sesame" not in ran.err


@pytest.mark.services
def test_a_server_that_is_not_connect_is_told(kafka: SharedKafka, opensearch: SharedOpenSearch) -> None:
    for url in (opensearch.url, f"http://{kafka.address}"):
        for asked in (["list"], ["status", "c"]):
            ran = command("connect", *asked, "--url", url)
            assert ran.code == 1
            assert f"error: what answers at {url} is not kafka connect\n" in ran.err
            assert "8083" in ran.err and "(" not in ran.err


def test_a_port_that_cannot_be_is_told() -> None:
    ran = command("connect", "list", "--url", "http://ann:sesame@localhost:99999")
    assert ran.code == 1
    assert "error: 'localhost:99999' is not an address\n" in ran.err
    assert "A port is a number from 1 to 65535." in ran.err and "sesame" not in ran.err


def test_a_status_is_read_part_by_part() -> None:
    said = {
        "name": "c",
        "connector": {"state": "RUNNING", "worker_id": "w:1"},
        "tasks": [
            {"id": 1, "state": "RUNNING", "worker_id": "w:1"},
            {"id": 0, "state": "FAILED", "worker_id": "w:2", "trace": "boom"},
        ],
    }
    found = status_of(said)
    assert found.parts == (
        Part(None, "RUNNING", "w:1"),
        Part(0, "FAILED", "w:2", "boom"),
        Part(1, "RUNNING", "w:1"),
    )
    assert found.failed == (Part(0, "FAILED", "w:2", "boom"),) and not found.settled


TRACE = (
    "io.debezium.DebeziumException: Couldn't obtain encoding for database shop\n\tat a.B(C.java:1)\n"
    "Caused by: org.postgresql.util.PSQLException: FATAL: {}\n\tat d.E(F.java:2)\n\t... 9 more\n"
)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ('password authentication failed for user "ann"', "'database.user' and 'database.password'"),
        ('ERROR: replication slot "debezium" is active for PID 7', "a 'slot.name' of its own"),
        ("logical decoding requires wal_level >= logical", "SET wal_level = 'logical'"),
        ('could not access file "decoderbufs": No such file', "set 'plugin.name' to pgoutput"),
        ("Connection to db:5432 refused. Check that", "'database.hostname' and 'database.port'"),
        ("something nobody has seen", "headwater connect restart claims --tasks"),
    ],
)
def test_a_trace_becomes_a_reason_and_a_hint(said: str, hint: str) -> None:
    trace = TRACE.format(said)
    assert hint in hint_for(trace, "claims")
    assert reason_of(trace) == (
        "io.debezium.DebeziumException: Couldn't obtain encoding for database shop"
        f" (org.postgresql.util.PSQLException: FATAL: {said})"
    )


def test_what_is_hidden_is_never_shown() -> None:
    assert "sesame" not in reason_of("E: cannot connect with sesame at u:sesame@h", ("sesame",))
    assert without("jdbc:postgresql://h/db?password=sesame", ()) == "jdbc:postgresql://h/db?password=***"

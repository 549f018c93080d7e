"""Where a demo lives and what it remembers. Oracle: what was written down, and who holds a lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.demo.claims_kafka import CDC, JDBC, NAME, commands, members_of, write_files
from headwater.demo.session import DemoFolder, demo_folder
from headwater.demo.stage import begin_notes, notes_of
from headwater.errors import ServiceError, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> DemoFolder:
    return DemoFolder(tmp_path, NAME)


def test_ports_are_taken_once_and_differ(folder: DemoFolder) -> None:
    assert notes_of(folder) is None
    notes = begin_notes(folder, CDC)
    assert begin_notes(folder, CDC) == notes == notes_of(folder)
    ports = notes.ports
    assert len({ports.postgres, ports.kafka, ports.connect, ports.opensearch}) == 4


def test_how_members_are_read_is_settled_at_the_beginning(folder: DemoFolder) -> None:
    assert (members_of(folder, None), members_of(folder, CDC)) == (JDBC, CDC)
    begin_notes(folder, CDC)
    assert (members_of(folder, None), members_of(folder, CDC)) == (CDC, CDC)
    with pytest.raises(UsageError, match="begun with --members cdc") as raised:
        members_of(folder, JDBC)
    assert "--fresh" in raised.value.hint


def test_the_files_of_a_demo_are_there_to_be_used(folder: DemoFolder) -> None:
    notes = begin_notes(folder, JDBC)
    files = write_files(folder, notes)
    tables, pipeline = files.tables.read_text(), files.pipeline.read_text()
    assert pipeline.startswith(tables) and "INSERT INTO agg_insurance_costs" in pipeline
    assert "INSERT INTO" not in tables and notes.ports.broker in tables
    assert "claims-connector" in files.connector.read_text()


def test_commands_name_the_ports_and_the_folder(folder: DemoFolder) -> None:
    notes = begin_notes(folder, JDBC)
    said = commands(folder, notes)
    assert said[0] == f"curl http://127.0.0.1:{notes.ports.connect}/connectors/claims-connector/status"
    assert f"--state {folder.path}" in said[-1]
    assert "--state" not in commands(demo_folder(NAME, None), notes)[-1]


def test_one_demo_at_a_time_runs_in_a_folder_and_fresh_forgets(folder: DemoFolder) -> None:
    with folder.alone(fresh=False):
        begin_notes(folder, JDBC)
        with pytest.raises(ServiceError, match="running already"), folder.alone(fresh=True):
            pytest.fail("two demos run in one folder")
        assert notes_of(folder) is not None
    with folder.alone(fresh=True):
        assert notes_of(folder) is None

"""`headwater demo psql` and `demo generate` as programs. Oracle: what a real Postgres then says."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.demo.claims import make_tables
from headwater.demo.session import DemoFolder, demo_database
from headwater.errors import ServiceError

pytestmark = pytest.mark.services

HEADWATER = [sys.executable, "-m", "headwater"]


@pytest.fixture(scope="module")
def folder(folder_of_its_own: Path) -> Iterator[DemoFolder]:
    """A demo whose database runs."""
    folder = DemoFolder(folder_of_its_own)
    with demo_database(folder, port=None, fresh=False):
        yield folder


def headwater(folder: DemoFolder, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [*HEADWATER, "demo", *arguments, "--state", str(folder.path)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=200)


def test_one_statement(folder: DemoFolder) -> None:
    said = headwater(folder, "psql", "claims", "-c", "SELECT count(*) FROM members")
    assert said.returncode == 0 and "500" in said.stdout


def test_a_script_on_stdin(folder: DemoFolder) -> None:
    sql = "DELETE FROM accident_claims WHERE claim_id = 1;\nSELECT min(claim_id) FROM accident_claims;\n"
    said = headwater(folder, "psql", "claims", stdin=sql)
    assert said.returncode == 0 and "DELETE 1" in said.stdout


def test_a_wrong_statement_has_an_exit_code(folder: DemoFolder) -> None:
    assert headwater(folder, "psql", "claims", "-c", "SELECT nope").returncode != 0
    assert headwater(folder, "psql", "claims", stdin="SELECT nope;").returncode != 0


def test_generate_changes_so_many_rows(folder: DemoFolder) -> None:
    said = headwater(folder, "generate", "claims", "--rows", "7", "--every", "0s")
    assert said.returncode == 0, said.stderr
    assert said.stdout == "the claims tables are there\nchanged 7 rows\n"


def test_generate_makes_the_tables_on_a_postgres_of_ones_own(folder: DemoFolder) -> None:
    headwater(folder, "psql", "claims", "-c", "CREATE DATABASE mine")
    uri = folder.uri().removesuffix("/postgres") + "/mine"
    said = headwater(folder, "generate", "claims", "--uri", uri, "--rows", "1")
    assert said.stdout == "made the claims tables\nchanged 1 rows\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_generate_without_a_number_runs_until_it_is_stopped(
    folder: DemoFolder, number: signal.Signals, code: int
) -> None:
    command = [*HEADWATER, "demo", "generate", "claims", "--every", "10ms", "--state", str(folder.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "the claims tables are there\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (code, "")
    assert out.startswith("changed ")


def test_a_demo_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    said = headwater(DemoFolder(tmp_path), "psql", "claims", "-c", "SELECT 1")
    assert said.returncode == 1
    assert said.stderr.startswith("error: the demo is not running\n") and "hint:" in said.stderr


def test_a_second_demo_on_one_folder_is_refused(folder: DemoFolder) -> None:
    with pytest.raises(ServiceError, match="running already"), demo_database(folder, port=None, fresh=True):
        pass
    assert folder.uri(), "the first one still runs"


def test_the_database_keeps_its_port_and_rows_until_it_is_told_to_forget(folder_of_its_own: Path) -> None:
    folder = DemoFolder(folder_of_its_own / "again")
    with demo_database(folder, port=None, fresh=False) as first:
        assert not make_tables(first)
    with demo_database(folder, port=None, fresh=False) as second:
        assert second == first
    marker = folder.path / "state"
    marker.mkdir()
    with demo_database(folder, port=None, fresh=True):
        assert not marker.exists()

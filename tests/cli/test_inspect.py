"""`explain`, `verify`, `resnapshot`, `drop` over a runtime that is pretended. Oracle: what is printed, the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwater.cli import inspect
from headwater.cli.main import main
from headwater.errors import StateError
from headwater.runtime.verify import Difference


def test_explain_prints_what_the_runtime_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inspect, "explain_script", lambda text, file: f"{file}: {text}")
    assert main(["explain", "-e", "SELECT 1"]) == 0
    assert capsys.readouterr().out == "sql: SELECT 1\n"


def test_explain_takes_a_file_or_sql(tmp_path: Path) -> None:
    script = tmp_path / "a.sql"
    script.write_text("SELECT 1")
    assert main(["explain", str(script), "-e", "SELECT 1"]) == 2


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        ([], 0, "equal: every view is what its query gives at this cut\n"),
        ([Difference("totals", "a row is missing")], 1, "different: totals: a row is missing\n"),
    ],
)
def test_verify_says_where_it_differs(
    found: list[Difference],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(inspect, "verify_state", lambda state, listener: found)
    assert main(["verify", "--state", "somewhere"]) == code
    assert capsys.readouterr().out == said


def test_drop_names_what_is_gone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    dropped: list[Path] = []
    monkeypatch.setattr(inspect, "drop_state", lambda state, listener: dropped.append(state))
    assert main(["drop", "--state", "somewhere"]) == 0
    assert dropped == [Path("somewhere")] and capsys.readouterr().out == "dropped somewhere\n"


@pytest.mark.parametrize(
    ("results", "said"), [([], ""), (["totals", "large"], "computed anew then: totals, large\n")]
)
def test_resnapshot_says_what_will_happen(
    results: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[Path, str]] = []

    def pretended(state: Path, table: str, listener: object) -> list[str]:
        asked.append((state, table))
        return results

    monkeypatch.setattr(inspect, "resnapshot_state", pretended)
    assert main(["resnapshot", "orders", "--state", "somewhere"]) == 0
    assert asked == [(Path("somewhere"), "orders")]
    assert capsys.readouterr().out == f"the rows of orders are read again at the next start\n{said}"


@pytest.mark.parametrize("command", [["verify"], ["resnapshot", "orders"], ["drop"]])
def test_a_folder_without_state_is_an_error(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: there is no saved state in")


def test_an_error_of_the_runtime_has_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise StateError("the state is newer than this program", hint="Update.")

    monkeypatch.setattr(inspect, "verify_state", fail)
    assert main(["verify", "--state", "somewhere"]) == 1
    assert capsys.readouterr().err == "error: the state is newer than this program\nhint: Update.\n"

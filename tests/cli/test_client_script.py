"""A script on a pipe, around a session that is written down. Oracle: what is asked and printed, written by hand."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest

from headwater.cli.client.script import run_script
from headwater.errors import HeadwaterError, UsageError
from headwater.runtime.conversation import Onlooker, Outcome
from headwater.runtime.facts import Listener
from tests.cli.test_client_shell import WrittenQuery, WrittenSession


def test_commands_and_short_forms_do_what_they_do_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, file = WrittenSession(), tmp_path / "a.sql"
    file.write_text("USE b;\n\\d pages\n")
    text = f"USE a;\n\\d\nCLEAR; HELP;\nSOURCE '{file}';\nSHOW JOBS;\nQUIT;\nUSE never;"
    assert run_script(session, text, "sql", form=None, once=True) == 0
    assert session.asked == ["sql: USE a", f"{file}: USE b", f"{file}: DESCRIBE pages", "sql: SHOW JOBS"]
    shown = capsys.readouterr().out
    assert "│ pages  │ view  │ n       │" in shown and "STOP JOB 'id'" in shown and "│ into-out │" in shown


def test_who_quits_in_a_file_has_left(tmp_path: Path) -> None:
    session, file = WrittenSession(), tmp_path / "a.sql"
    file.write_text("USE a; EXIT; USE never;")
    assert run_script(session, f"\\i {file}\nUSE never;", "sql", form=None, once=True) == 0
    assert session.asked == [f"{file}: USE a"]


def test_the_first_error_ends_a_script_wherever_it_stands(tmp_path: Path) -> None:
    session, file = WrittenSession(), tmp_path / "a.sql"
    file.write_text("WRONG; USE never;")
    with pytest.raises(HeadwaterError, match="that is wrong"):
        run_script(session, f"SOURCE '{file}'; USE never;", "sql", form=None, once=True)
    file.write_text(f"SOURCE '{file}';")
    with pytest.raises(UsageError, match="one file too deep"):
        run_script(session, f"SOURCE '{file}';", "sql", form=None, once=True)
    assert session.asked == [f"{file}: WRONG"]


class ElsewhereQuery(WrittenQuery):
    """One that is told by a thread of its own, as those of a server are, until it is stopped."""

    def start(self, onlooker: Onlooker) -> None:
        self.thread = threading.Thread(target=super().start, args=[onlooker])
        self.thread.start()


class ElsewhereSession(WrittenSession):
    def __init__(self) -> None:
        super().__init__()
        self.query = ElsewhereQuery()

    def run(self, text: str, file: str, *, listener: Listener, once: bool = False) -> Outcome:
        return self.query


class NobodyReads(io.StringIO):
    """The other end of the pipe is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_query_whose_reader_is_gone_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ElsewhereSession()
    monkeypatch.setattr("sys.stdout", NobodyReads())
    with pytest.raises(BrokenPipeError):
        run_script(session, "SELECT 1", "sql", form="csv", once=False)
    assert session.query.ended.is_set()
    session.query.thread.join(30.0)
    assert not session.query.thread.is_alive()

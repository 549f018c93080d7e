"""History on disk. Oracle: the bytes of the file."""

from __future__ import annotations

import stat
from pathlib import Path

from prompt_toolkit.history import InMemoryHistory

from headwater.cli.client.history import history_file, open_history

SECRET = "CREATE TABLE t WITH ('username' = 'ann', 'password' = 'swordfish');"


def test_what_was_typed_is_there_in_the_next_session_without_its_secrets(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path)}
    open_history(environ).append_string(SECRET)
    again = open_history(environ)
    assert list(again.load_history_strings()) == [SECRET.replace("swordfish", "***")]
    assert "swordfish" not in history_file(environ).read_text()
    assert stat.S_IMODE(history_file(environ).stat().st_mode) == 0o600


def test_the_session_itself_remembers_no_secret_either(tmp_path: Path) -> None:
    history = open_history({"XDG_DATA_HOME": str(tmp_path)})
    history.append_string(SECRET)
    assert "swordfish" not in str(history.get_strings())


def test_where_nothing_can_be_kept_history_ends_with_the_session(tmp_path: Path) -> None:
    (tmp_path / "headwater").write_text("in the way")
    assert isinstance(open_history({"XDG_DATA_HOME": str(tmp_path)}), InMemoryHistory)

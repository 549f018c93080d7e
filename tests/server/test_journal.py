"""The journal, whatever the secrets are. Oracle: the lines, read again as JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError, Place
from headwater.server.integrations import without_secrets
from headwater.server.journal import Journal
from headwater.server.records import Integration


@pytest.mark.parametrize("secret", ["1", "null", "true", ":", '"', "{", "wrong"])
def test_a_secret_is_masked_in_texts_and_breaks_no_line(secret: str, tmp_path: Path) -> None:
    mask = partial(without_secrets, integration=Integration("db", {"password": secret}))
    journal = Journal(tmp_path, mask)
    problem = HeadwaterError(f"the password {secret} was refused", place=Place("a.sql", 1, 1)).to_json()
    journal.note("failed", application="shop", id="7", problem=problem, late=[], where=tmp_path)
    [line] = journal.lines("7", 10)
    assert line["problem"]["message"] == "the password *** was refused"
    assert line["problem"]["place"]["line"] == 1
    assert line["problem"]["detail"] == ""


def test_what_cannot_be_written_down_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal(tmp_path)
    (tmp_path / "server.jsonl").symlink_to("/dev/full")
    journal.note("deployment is RUNNING", application="shop", id="7")
    assert [line["event"] for line in journal.lines("7", 10)] == ["deployment is RUNNING"]
    assert "No space left on device" in caplog.text and "deployment is RUNNING" in caplog.text


def test_a_line_that_was_cut_hides_no_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.note("first", id="7")
    with (tmp_path / "7.jsonl").open("a") as file:
        file.write('{"at": "2026-')
        file.write("\n")
    journal.note("last", id="7")
    assert [line["event"] for line in journal.lines("7", 10)] == ["first", "last"]

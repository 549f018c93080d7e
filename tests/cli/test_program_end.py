"""A program that has ended is gone, with all it started. Oracle: the pipe that was its output, and what still runs."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

import pytest

from tests.demo.played import HEADWATER, left_behind

pytestmark = pytest.mark.jvm

SQL = (
    "CREATE FUNCTION escaped AS 'html.escape' LANGUAGE PYTHON RETURNS STRING DETERMINISTIC;"
    " SELECT escaped('4' || '2<') AS answer"
)

PATIENCE = 180.0


@pytest.mark.parametrize(
    ("cache", "given", "typed"),
    [("the machine's", (), f"{SQL};"), ("of its own", ("-e", SQL), "")],
    ids=["from a pipe", "with a fresh cache"],
)
def test_when_the_program_has_ended_nobody_holds_its_output_and_nothing_runs(
    cache: str, given: tuple[str, ...], typed: str, tmp_path: Path
) -> None:
    """With a fresh cache Java writes down the classes it has loaded when it ends, which takes it seconds."""
    fresh = {"XDG_CACHE_HOME": str(tmp_path / "cache")} if cache == "of its own" else {}
    with subprocess.Popen(
        [*HEADWATER, "sql", "--once", "--format", "csv", *given],
        cwd=tmp_path,
        stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **fresh},
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        if program.stdin is not None:
            program.stdin.write(typed.encode())
            program.stdin.close()
        assert program.wait(PATIENCE) == 0, program.stderr.read()
        still_running = left_behind(program.pid, tmp_path)
        said = b""
        while select.select([program.stdout], [], [], 0)[0] and (
            piece := os.read(program.stdout.fileno(), 4096)
        ):
            said += piece
        is_at_its_end = bool(select.select([program.stdout], [], [], 0)[0])
        assert b"Traceback" not in program.stderr.read()
    assert said == b"answer\n42&lt;\n"
    assert is_at_its_end, still_running
    assert still_running == []

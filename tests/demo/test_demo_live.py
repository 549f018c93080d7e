"""The demo as a program: first start, second start, Ctrl-C. Oracle: what the screen says, and what is left."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.services, pytest.mark.jvm]

HEADWATER = [sys.executable, "-m", "headwater"]
ANIMALS = 7


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """True as soon as the condition holds, False if it does not within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def left_behind(session: int, folder: Path) -> list[str]:
    """Processes of a session, or that were given the folder, which still run."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            state, *rest = (process / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z" and (int(rest[2]) == session or str(folder) in command):
            left.append(command)
    return left


def test_a_second_start_goes_on_and_ctrl_c_leaves_nothing_behind(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own
    first = subprocess.Popen(
        [*HEADWATER, "demo", "claims", "--for", "4s", "--plain"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = first.communicate(timeout=120)
    assert first.returncode == 0, err
    assert len(re.findall(r"^\+ accident_detail=.*\(batch 1,", out, re.MULTILINE)) == ANIMALS
    assert re.search(r"^- accident_detail=.*\(batch \d+, cut", out, re.MULTILINE), "nothing changed"
    assert "snapshot of accident_claims" in err
    assert wait_for(lambda: left_behind(first.pid, folder) == [], 10.0)

    screen, pid, end = watch_in_a_terminal(folder, until=rb"batch \x1b\[0m\x1b\[1m\d+")
    assert os.waitstatus_to_exitcode(end) == 130, screen[-1000:]
    assert "resumed at cut" in screen and "no new snapshot" in screen
    assert "snapshot of" not in screen
    assert "Saltwater Crocodile" in screen
    assert wait_for(lambda: left_behind(pid, folder) == [], 10.0)


def watch_in_a_terminal(folder: Path, *, until: bytes) -> tuple[str, int, int]:
    """Run the demo in a terminal of its own, press Ctrl-C once it shows `until`; screen, process, status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        os.execv(HEADWATER[0], [*HEADWATER, "demo", "claims"])
    seen, pressed = b"", False
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
        if not pressed and re.search(until, seen):
            os.write(terminal, b"\x03")
            pressed = True
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    return seen.decode(errors="replace"), pid, os.waitpid(pid, 0)[1]

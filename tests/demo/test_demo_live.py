"""The demo as a program: first start with its console, second start, Ctrl-C.

Oracle: what the screen and the browser show, and what is left.
"""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.console.stand import chromium, looking
from tests.demo.played import HEADWATER, PATIENCE, ended, left_behind, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

ANIMALS = 7
COMPANIES = 4


def test_a_second_start_goes_on_and_ctrl_c_leaves_nothing_behind(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own
    # The browser stands before the demo begins, which ends by itself.
    with chromium() as browser:
        first = subprocess.Popen(
            [*HEADWATER, "demo", "claims", "--for", "60s", "--plain"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        )
        assert first.stdout is not None
        watch_the_dashboard(browser, first.stdout.readline())
    out, err = ended(first, folder, PATIENCE)
    assert first.returncode == 0, err
    assert len(re.findall(r"^\+ accident_detail=.*\(batch 1,", out, re.MULTILINE)) == ANIMALS
    assert re.search(r"^- accident_detail=.*\(batch \d+, cut", out, re.MULTILINE), "nothing changed"
    assert "snapshot of accident_claims" in err
    assert wait_for(lambda: left_behind(first.pid, folder) == [], PATIENCE)

    screen, pid, end = watch_in_a_terminal(folder, until=rb"batch \x1b\[0m\x1b\[1m\d+")
    assert os.waitstatus_to_exitcode(end) == 130, screen[-1000:]
    assert "resumed at cut" in screen and "no new snapshot" in screen
    assert "snapshot of" not in screen
    assert "Saltwater Crocodile" in screen
    assert wait_for(lambda: left_behind(pid, folder) == [], PATIENCE)


def watch_the_dashboard(browser: Browser, said: str) -> None:
    """Open the address that the demo tells, and wait until the costs of an animal are others than before."""
    found = re.search(r"dashboard (http://127\.0\.0\.1:\d+)(/console/dashboards/claims)$", said.rstrip())
    assert found, said
    with looking(browser, found[1]) as page:
        page.goto(found[2])
        expect(page.get_by_role("heading", level=1)).to_have_text("What animals cost")
        bars = page.get_by_role("region", name="Costs by animal").locator(".bar-value")
        expect(bars).to_have_count(ANIMALS)
        expect(page.get_by_role("region", name="Costs by company").locator("li")).to_have_count(COMPANIES)
        before = bars.all_inner_texts()
        expect(bars).not_to_have_text(before)


def watch_in_a_terminal(folder: Path, *, until: bytes) -> tuple[str, int, int]:
    """Run the demo in a terminal of its own, press Ctrl-C once it shows `until`; screen, process, status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        os.execv(HEADWATER[0], [*HEADWATER, "demo", "claims"])
    seen, pressed = b"", False
    deadline = time.monotonic() + PATIENCE
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

"""The SQL client as someone at a terminal sees it. Oracle: the screen of a real terminal, written down by hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.tmux import Terminal

pytestmark = pytest.mark.jvm

HEADWATER = Path(sys.executable).with_name("headwater")

PROMPT = r"^headwater>$"

CLICKS = (
    "CREATE TABLE clicks (id BIGINT, page INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'datagen', "
    "'fields.id.kind' = 'sequence', 'fields.page.min' = '1', 'fields.page.max' = '3');"
)
PAGES = "SELECT page, COUNT(*) AS n FROM clicks GROUP BY page;"
MODE = "SET 'sql-client.execution.result-mode' = '{}';"


def opened(folder: Path) -> Terminal:
    """A terminal with a new client in it."""
    environ = {
        name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME", "JAVA_HOME") if name in os.environ
    }
    environ |= {"XDG_DATA_HOME": str(folder / "data"), "PYTHONDONTWRITEBYTECODE": ""}
    terminal = Terminal(folder, [str(HEADWATER), "sql"], environ)
    terminal.sees(PROMPT)
    return terminal


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """One client for all tests here, as Spark starts in it once."""
    with closing(opened(tmp_path_factory.mktemp("terminal"))) as terminal:
        terminal.enter(CLICKS)
        terminal.sees("table clicks is declared")
        yield terminal


@pytest.fixture
def terminal(client: Terminal) -> Iterator[Terminal]:
    """An empty screen with a prompt."""
    client.resize(100, 30)
    client.enter("clear")
    client.sees(r"\Aheadwater>$")
    yield client
    client.press("C-c")


def test_tab_completes_what_can_stand_there(terminal: Terminal) -> None:
    terminal.type("SELECT * FROM cl")
    terminal.press("Tab")
    terminal.sees(r"^headwater> SELECT \* FROM clicks$")
    terminal.press("C-c")
    terminal.type("CREATE TABLE t (a INT) WITH (")
    terminal.press("Tab")
    terminal.sees(r"WITH \('connector' = '$")
    terminal.type("data")
    terminal.press("Tab")
    terminal.sees(r"'connector' = 'datagen'$")
    terminal.type(", '")
    terminal.press("Tab")
    terminal.sees(r"^ +rows-per-second +how many rows are released each second")


def test_statements_have_colours_and_several_lines(terminal: Terminal) -> None:
    terminal.enter("SELECT 'text'")
    terminal.sees(r"^      \.\.\.>$")
    assert re.search(r"\x1b\[[0-9;]*94mSELECT.*\x1b\[[0-9;]*32m'text'", terminal.screen(colours=True))


def test_a_live_table_moves_fits_a_smaller_window_and_ends_with_q(terminal: Terminal) -> None:
    terminal.enter(PAGES)
    first = int(terminal.sees(r"batch (\d+)$")[1])
    terminal.waits(
        lambda: next(
            (m for m in re.finditer(r"batch (\d+)$", terminal.screen(), re.M) if int(m[1]) > first), None
        ),
        "a later batch",
    )
    terminal.sees(
        r"^╭──────┬─+╮\n│ page │ +n │\n├──────┼─+┤\n(│    [123] │ +\d+ │\n){1,3}╰──────┴─+╯\nq ends the query$"
    )
    terminal.resize(40, 12)
    terminal.sees(r"\A SELECT page, COUNT[^\n]*\n[^╭]*╭──────┬")
    assert all(len(line) <= 40 for line in terminal.screen().splitlines())
    terminal.press("q")
    terminal.sees(PROMPT)
    assert "╰──────┴" in terminal.screen() and "q ends" not in terminal.screen()


def test_a_changelog_tells_inserts_and_updates_and_ends_with_ctrl_c(terminal: Terminal) -> None:
    terminal.enter(MODE.format("changelog"))
    terminal.enter(PAGES)
    terminal.sees(r"^ op │ page │ +n$")
    terminal.sees(r"^ -U │    (\d) │ +\d+\n( [-+]U [^\n]*\n)*? ?\+U │    \1 │ +\d+$")
    terminal.press("C-c")
    terminal.sees(r"^\d+ changes\nheadwater>$")
    terminal.enter(MODE.format("table"))
    terminal.sees(r"= 'table';\n(.+\n)*headwater>$")


def test_an_error_is_underlined_and_the_session_goes_on(terminal: Terminal) -> None:
    terminal.enter("SELECT page,\n  nope FROM clicks;")
    terminal.sees(r'^error: column "nope" does not exist in table "clicks"$')
    terminal.sees(
        r"^   --> sql:2:3\n    \|\n  2 \|   nope FROM clicks\n    \|   \^\^\^\^\nhint: The columns are id, page\.$"
    )
    terminal.enter("\\d")
    terminal.sees(r"^│ clicks │ table │ id, page │\n╰[^\n]*\nheadwater>$")


def test_a_job_goes_on_beside_and_leaving_asks_for_it(tmp_path: Path, terminal: Terminal) -> None:
    terminal.enter("CREATE TABLE out (id BIGINT) WITH ('connector' = 'blackhole');")
    terminal.enter("INSERT INTO out SELECT id FROM clicks;")
    terminal.sees(r"^job 'into-out' is running: INSERT INTO out$")
    terminal.enter("\\q")
    terminal.sees(r"^'into-out' ends with this client; State is kept\. Leave\? \[Y/n\]$")
    terminal.enter("n")
    terminal.enter("SHOW JOBS;")
    terminal.sees(r"^│ into-out │ INSERT INTO out │ running +│")
    terminal.enter("STOP JOB 'into-out';")
    terminal.sees(r"^job 'into-out' is stopped\nheadwater>$")


def test_what_was_typed_comes_back_in_the_next_session_without_secrets(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as first:
        first.enter("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole', 'password' = 'swordfish');")
        first.sees("error: connector 'blackhole' has no option 'password'")
        first.enter("quit")
        first.sees(r"^bye\nexit code 0$")
    with closing(opened(tmp_path)) as second:
        second.press("Up")
        second.press("Up")
        second.sees(r"'password' = '\*\*\*'\);$")
        second.press("C-c")
        # Between two prompts the terminal takes Ctrl-D for itself.
        second.sees(PROMPT)
        second.press("C-d")
        second.sees(r"^bye\nexit code 0$")


def test_without_a_terminal_a_script_that_is_wrong_is_told_by_the_exit_code(tmp_path: Path) -> None:
    """One that is right ends with 0: see `test_program_end`."""
    command = [str(HEADWATER), "sql"]
    wrong = subprocess.run(command, input="SELEC 1;", capture_output=True, text=True, cwd=tmp_path)
    assert wrong.returncode == 1 and wrong.stdout == ""
    assert "SELEC does not start a statement" in wrong.stderr and "^^^^^" in wrong.stderr

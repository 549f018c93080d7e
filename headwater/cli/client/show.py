"""What a statement's outcome looks like on a terminal: notes, answers, jobs, errors, help."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import ROUNDED
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater import __version__
from headwater.cli.client.commands import SHORT_FORMS
from headwater.cli.complain import error_text
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import Job, Known, Said

STATES = {"running": "green", "failed": "red", "starting": "yellow"}

STATEMENTS = (
    ("CREATE TABLE, VIEW, CATALOG, FUNCTION", "declare something for this session"),
    ("SELECT ...", "a live query; q ends it"),
    ("INSERT INTO ..., EXECUTE STATEMENT SET", "a job that goes on in the background"),
    ("EXPLAIN, DESCRIBE, SHOW ...", "look inside"),
    ("SHOW JOBS, STOP JOB 'id'", "what runs in the background"),
    ("VERIFY view", "is a job's view what its query gives from nothing?"),
    ("SET 'name' = 'value', RESET 'name'", "settings"),
    ("SOURCE 'file'", "run a file"),
    ("CLEAR, HELP, QUIT", "an empty screen, this help, leave"),
)

KEYS = (
    ("Enter", "runs what ends with ; and begins a new line elsewhere"),
    ("Tab", "completes keywords, tables, columns, functions and options"),
    ("Up, Down, Ctrl-R", "go through earlier statements, search them"),
    ("Ctrl-C, Ctrl-D", "throw away what is typed; leave"),
)


def greet(console: Console, where: str) -> None:
    """Who is there, and the least one has to know."""
    console.print(Text.assemble((" headwater ", "bold reverse"), f" {__version__}", (f"  {where}", "dim")))
    hints = Text("statements end with ;", style="dim")
    for key, what in (("Tab", "completes"), ("\\?", "helps"), ("\\q", "leaves")):
        hints.append("   ").append(key, style="bold not dim").append(f" {what}")
    console.print(hints)
    console.print()


def show_said(console: Console, said: Said) -> None:
    """What was answered, or what was done."""
    style = "red" if said.is_bad else "green" if said.is_note else ""
    console.print(Text(said.text, style=style), soft_wrap=True)


def show_error(console: Console, error: HeadwaterError) -> None:
    """The message, the place underlined, what was seen, what to do."""
    for line in error_text(error).splitlines():
        console.print(_coloured(line), soft_wrap=True)


def _coloured(line: str) -> Text:
    word, sign, rest = line.partition(":")
    if sign and word in ("error", "hint", "detail"):
        style = {"error": "bold red", "hint": "bold cyan"}.get(word, "bold")
        return Text.assemble((f"{word}:", style), (rest, "bold" if word == "error" else ""))
    margin, bar, text = line.partition("|")
    if bar and set(text.strip()) == {"^"}:
        return Text.assemble((margin + bar, "dim"), (text, "bold red"))
    return Text.assemble((margin + bar, "dim"), text)


def show_jobs(console: Console, jobs: Sequence[Job]) -> None:
    """A line for each job; why one failed stands below."""
    if not jobs:
        console.print(Text("no jobs; INSERT INTO starts one", style="dim"))
        return
    drawn = _table(
        "id", "what", "state", "batch", "rows read", "lag", "cut", right=("batch", "rows read", "lag")
    )
    for job in jobs:
        drawn.add_row(
            job.id,
            job.what,
            Text(job.state, style=STATES.get(job.state, "dim")),
            "" if job.batch is None else str(job.batch),
            f"{job.rows_read:,}",
            "" if job.lag is None else f"{job.lag:.2f} s",
            job.cut,
        )
    console.print(drawn)
    for job in jobs:
        if job.problem:
            console.print(Text(f"{job.id}: {job.problem}", style="red"))


def show_relations(console: Console, known: Known) -> None:
    """Names, kinds and columns of tables and views."""
    if not known.tables:
        console.print(Text("no tables or views; CREATE TABLE declares one", style="dim"))
        return
    drawn = _table("name", "kind", "columns")
    for name, columns in known.tables.items():
        drawn.add_row(name, "view" if name in known.views else "table", Text(", ".join(columns), style="dim"))
    console.print(drawn)


def show_help(console: Console) -> None:
    """What can be typed."""
    for title, lines in (
        ("statements", STATEMENTS),
        ("short forms", tuple(SHORT_FORMS.items())),
        ("keys", KEYS),
    ):
        console.print(Text(title, style="bold"))
        wide = max(len(what) for what, _ in lines)
        for what, about in lines:
            console.print(Text.assemble("  ", (f"{what:<{wide}}", "cyan"), "  ", about))
    console.print(Text("A live query is shown as SET 'sql-client.execution.result-mode' says:", style="dim"))
    console.print(
        Text("  'table' redraws, 'changelog' and 'tableau' write a line for each change.", style="dim")
    )


def _table(*names: str, right: Sequence[str] = ()) -> Table:
    drawn = Table(box=ROUNDED, border_style="dim", header_style="bold")
    for name in names:
        drawn.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return drawn

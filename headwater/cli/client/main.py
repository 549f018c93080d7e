"""`headwater sql` on a terminal: greet, read and carry out until somebody leaves, ask what becomes of the jobs."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from prompt_toolkit import prompt
from rich.console import Console
from rich.text import Text

from headwater.cli.client.editor import Editor
from headwater.cli.client.history import open_history
from headwater.cli.client.shell import Shell
from headwater.cli.client.show import greet, show_error
from headwater.cli.client.watch import TerminalKeyboard
from headwater.cli.stop import Stopped
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import Job, Session


def is_terminal() -> bool:
    """True if somebody sits there: what is typed comes from a terminal and what is said goes to one."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def talk(session: Session, where: str) -> int:
    """Be the SQL client of a session until somebody leaves; `where` says where its statements are carried out."""
    console = Console(highlight=False)
    shell = Shell(session, console, TerminalKeyboard())
    editor = Editor(session.known, open_history(), lambda: _toolbar(session, where))
    signal.signal(signal.SIGTERM, _hear)
    greet(console, where)
    try:
        shell.loop(editor)
        while not _may_leave(shell, session):
            shell.loop(editor)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _close(session, console)
    return 0


def toolbar(jobs: tuple[Job, ...], where: str) -> str:
    """The line at the bottom: `local   2 jobs run   1 failed`."""
    running = sum(not job.is_over for job in jobs)
    failed = sum(job.state == "failed" for job in jobs)
    said = [where]
    said += [f"{running} {'job runs' if running == 1 else 'jobs run'}"] if running else []
    said += [f"{failed} failed"] if failed else []
    return "   ".join(said)


def _toolbar(session: Session, where: str) -> str:
    try:
        return toolbar(session.jobs(), where)
    except HeadwaterError as problem:
        return problem.message


def _may_leave(shell: Shell, session: Session) -> bool:
    """Ask, if jobs run; those that go on without the session are stopped on request only."""
    try:
        running = shell.running()
    except HeadwaterError:
        return True
    if not running:
        return True
    names = ", ".join(f"'{job.id}'" for job in running)
    if not session.keeps_jobs:
        many = f"{names} {'ends' if len(running) == 1 else 'end'} with this client; State is kept."
        return _asked(f"{many} Leave? [Y/n] ", otherwise=True)
    many = f"{names} {'goes' if len(running) == 1 else 'go'} on at the server."
    if _asked(f"{many} Stop {'it' if len(running) == 1 else 'them'}? [y/N] ", otherwise=False):
        for job in running:
            shell.stop(job)
    return True


def _asked(question: str, *, otherwise: bool) -> bool:
    try:
        said = prompt(question).strip().lower()
    except KeyboardInterrupt:
        return False
    except EOFError:
        return otherwise
    return otherwise if not said else said.startswith("y")


def _close(session: Session, console: Console) -> None:
    try:
        session.close()
    except HeadwaterError as problem:
        show_error(console, problem)
    else:
        console.print(Text("bye", style="dim"))


def _hear(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)

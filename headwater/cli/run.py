"""`headwater run` and `headwater sql`: open a pipeline, turn its wheel, show its answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic as now

from headwater.cli.client.main import is_terminal, talk
from headwater.cli.client.remote import RemoteSession
from headwater.cli.client.script import run_script
from headwater.cli.render import OnceView, choose_view
from headwater.cli.script_file import read_file
from headwater.cli.stop import Stop
from headwater.cli.subscribed import Subscriptions
from headwater.cli.view import View
from headwater.errors import UsageError
from headwater.runtime.open import Cluster, open_pipeline
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.session import LocalSession
from headwater.runtime.subscribing import subscribes

WAIT_SECONDS = 0.2
"""How long a step waits for something to come; a signal is heard after that."""

COMMAND_LINE = "sql"
"""Where SQL stands that was not read from a file; also the name of its pipeline."""


def run_command(given: argparse.Namespace) -> int:
    """Run what was typed until it is done or someone stops it."""
    form = getattr(given, "format", None)
    if getattr(given, "server", None) is not None:
        return at_server(given)
    if given.command == "sql" and is_talk(given):
        return talk(LocalSession(), "local")
    text, file = script_of(given.file, getattr(given, "sql", None))
    cluster = cluster_of(given)
    if given.once:
        return once(text, file, state=given.state, form=form or "table", cluster=cluster)
    forever(text, file, state=given.state, form=form, cluster=cluster)
    return 0


def cluster_of(given: argparse.Namespace) -> Cluster | None:
    """The cluster that was typed."""
    master, said = getattr(given, "master", None), getattr(given, "conf", [])
    if master is None:
        if said:
            raise UsageError(
                "--conf is for a cluster", hint="Give its master too: --master spark://HOST:7077."
            )
        return None
    wrong = next((one for one in said if "=" not in one), None)
    if wrong is not None:
        raise UsageError(f"--conf {wrong} sets nothing", hint="Write it as NAME=VALUE.")
    pairs = (one.partition("=") for one in said)
    cluster = Cluster(master, {name.strip(): value.strip() for name, _, value in pairs})
    if given.state is None and not cluster.is_local:
        raise UsageError(
            "--master needs --state",
            detail="The executors of a cluster read and write state too, on other machines.",
            hint="Give a folder that all machines share: --state /mnt/shop.",
        )
    return cluster


def is_talk(given: argparse.Namespace) -> bool:
    """True if statements are typed one by one, on a terminal."""
    return given.file is None and given.sql is None and is_terminal()


def at_server(given: argparse.Namespace) -> int:
    """Have a server carry out what was typed, or what stands in a script."""
    if given.state is not None:
        raise UsageError("--state does not go together with --server", hint="The server keeps State itself.")
    text, file = ("", "") if is_talk(given) else script_of(given.file, given.sql)
    if is_talk(given):
        return talk(RemoteSession(given.server, given.token), given.server)
    session = RemoteSession(given.server, given.token, every_change=True)
    return run_script(session, text, file, form=given.format, once=given.once)


def script_of(file: Path | None, sql: str | None) -> tuple[str, str]:
    """The SQL text and the name of where it stands."""
    if file is not None:
        text = read_file(file)
        return (text if sql is None else f"{text.rstrip().rstrip(';')};\n{sql}"), str(file)
    if sql is not None:
        return sql, COMMAND_LINE
    if sys.stdin.isatty():
        raise UsageError(
            "there is no SQL to run", hint="Give a FILE, or -e 'SELECT ...', or a script on standard input."
        )
    return sys.stdin.read(), COMMAND_LINE


def once(text: str, file: str, *, state: Path | None, form: str, cluster: Cluster | None = None) -> int:
    """Process what is committed now, then write the rows of every SELECT; 1 if VERIFY finds a difference, or if
    something stopped."""
    view = OnceView(sys.stdout, sys.stderr, form)
    with (
        Stop() as stop,
        closing(view),
        opened(text, file, state=state, view=view, stop=stop, cluster=cluster) as pipeline,
    ):
        view.open(pipeline)
        subscriptions = Subscriptions(pipeline, sys.stdout, sys.stderr, form)
        subscriptions.tell()
        pipeline.run_once()
        subscriptions.tell()
        answers = pipeline.asked()
        view.finish()
        for answer in answers:
            view.say(answer.text)
        stopped = bool(pipeline.stopped)
    return int(stopped or any(answer.is_bad for answer in answers))


def forever(
    text: str, file: str, *, state: Path | None, form: str | None, cluster: Cluster | None = None
) -> None:
    """Follow the sources until someone stops us."""
    # What is printed line by line and a table that redraws would write over each other.
    plain = sys.stdout.isatty() and subscribes(text, file)
    view = choose_view(form, plain=plain, title=Path(file).stem)
    with Stop() as stop:
        with (
            closing(view),
            opened(text, file, state=state, view=view, stop=stop, cluster=cluster) as pipeline,
        ):
            if pipeline.program.results:
                subscriptions = Subscriptions(pipeline, sys.stdout, sys.stderr, form)
                subscriptions.tell()
                follow(pipeline, view, stop=stop, watch=subscriptions.tell)
        stop.end()


@contextmanager
def opened(
    text: str, file: str, *, state: Path | None, view: View, stop: Stop, cluster: Cluster | None = None
) -> Iterator[Pipeline]:
    """A pipeline that is closed at the end, undisturbed by signals."""
    pipeline = open_pipeline(text, file=file, state=state, listener=view, cluster=cluster)
    try:
        for answer in pipeline.answers:
            view.say(answer)
        yield pipeline
    finally:
        stop.closing()
        pipeline.close()


def follow(
    pipeline: Pipeline,
    view: View,
    *,
    stop: Stop,
    seconds: float | None = None,
    watch: Callable[[], None] = lambda: None,
) -> None:
    """Turn the wheel until someone stops us, or for so long after the first result.

    `watch` is called between steps and may raise.
    """
    view.open(pipeline)
    stop.gently()
    until: float | None = None
    target = pipeline.now() if pipeline.program.questions else None
    while stop.asked is None and (until is None or now() < until):
        pipeline.step(wait=WAIT_SECONDS)
        watch()
        if target is not None and pipeline.has_reached(target):
            # Asked of what was there when the script was started, and answered once.
            target = None
            for answer in pipeline.asked():
                view.say(answer.text)
        if until is None and seconds is not None and view.shown:
            until = now() + seconds

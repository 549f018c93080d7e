"""The console of a demo: its pipeline runs in a server of its own, and the terminal looks on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from headwater.cli.parser_server import PORT
from headwater.cli.stop import Stop
from headwater.cli.view import View
from headwater.errors import HeadwaterError, UsageError
from headwater.runtime.facts import BatchDone, Listener
from headwater.runtime.pipeline import Pipeline
from headwater.server import deployments
from headwater.server.access import Access
from headwater.server.answering import address_of, answering, bound, configured
from headwater.server.applications import create_application, create_version
from headwater.server.dashboards import FOLDER
from headwater.server.deployed import Deployed
from headwater.server.http import make_app
from headwater.server.records import FAILED, INITIALIZING, Application, Deployment, Version
from headwater.server.server import Server
from headwater.sources.base import Report

HOST = "127.0.0.1"
WHO = "demo"


class Screen:
    """What is shown on the terminal, by the thread of the pipeline; whoever watches hears if nobody reads it any more."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._gone: BrokenPipeError | None = None

    @property
    def shown(self) -> bool:
        """True once a result is there."""
        return self._view.shown

    def check(self) -> None:
        """Raise if what is shown goes nowhere."""
        if self._gone is not None:
            raise self._gone

    def open(self, pipeline: Pipeline) -> None:
        """Show what is true already."""
        self._show(lambda: self._view.open(pipeline))

    def report(self, report: Report) -> None:
        """Show how far it has come."""
        self._show(lambda: self._view.report(report))

    def batch(self, done: BatchDone) -> None:
        """Show what changed."""
        self._show(lambda: self._view.batch(done))

    def _show(self, deed: Callable[[], None]) -> None:
        try:
            deed()
        except BrokenPipeError as gone:
            self._gone = gone


@dataclass(frozen=True)
class Both:
    """Two listeners who hear the same."""

    one: Listener
    other: Listener

    def report(self, report: Report) -> None:
        """Tell both."""
        self.one.report(report)
        self.other.report(report)

    def batch(self, done: BatchDone) -> None:
        """Tell both."""
        self.one.batch(done)
        self.other.batch(done)


class DemoServer(Server):
    """A server whose pipeline a terminal shows as well."""

    def __init__(self, folder: Path, state: Path, screen: Screen) -> None:
        super().__init__(folder)
        self._state, self._screen = state, screen

    def state_of(self, application: Application) -> Path:
        """The State of the demo is where it always is."""
        return self._state

    def open(self, application: Application, version: Version, listener: Listener) -> Pipeline:
        """Open it, and show what is true already before its first step."""
        pipeline = super().open(application, version, Both(listener, self._screen))
        self._screen.open(pipeline)
        return pipeline

    def begin(self, name: str, script: str) -> Deployed:
        """Let a script run under a name: as a new version, unless it is the one that ran last."""
        application = self.store.find(Application, name=name) or create_application(self, name, WHO)
        body = {"statement": script}
        known = [one for one in self.store.all(Version, application_id=application.id) if one.body == body]
        version = known[-1] if known else create_version(self, application, body, WHO)
        last = self.store.all(Deployment, application_id=application.id)[-1:]
        if last and last[0].version_id == version.id:
            return self.run(self.store.change(last[0], is_wanted=True, status=INITIALIZING, next_run_at=None))
        wanted = Deployment(application.id, version.id, restart_enabled=False)
        deployments.deploy(self, application, wanted, who=WHO, confirmed=True)
        deployed = self.deployed(application)
        assert deployed is not None
        return deployed

    def keep_dashboard(self, name: str, text: str) -> None:
        """Put a dashboard there, unless there is one that somebody may have changed."""
        file = self.folder / FOLDER / f"{name}.json"
        file.parent.mkdir(exist_ok=True, mode=0o700)
        if not file.exists():
            file.write_text(text, encoding="utf-8")


@contextmanager
def console(server: DemoServer, stop: Stop) -> Iterator[str]:
    """The address of a server's console inside the block; at its end all pipelines are closed."""
    try:
        with closing(_near(PORT)) as listening, answering(configured(make_app(server, Access())), listening):
            yield f"http://{address_of(listening)}"
            stop.closing()
            server.stop()
    finally:
        stop.closing()
        server.close()


def check(deployed: Deployed) -> None:
    """Raise why a pipeline has failed; one that was stopped in the console may go on there."""
    if deployed.is_over and deployed.deployment.status == FAILED:
        raise deployed.turning.problem or HeadwaterError("the pipeline ended without a reason")


def _near(port: int) -> socket:
    """A socket at a port, or at any free one if somebody is there."""
    try:
        return bound(HOST, port)
    except UsageError:
        return bound(HOST, 0)

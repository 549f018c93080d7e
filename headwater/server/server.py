"""The server: what it knows, and the deployments that run in it, all on one Spark."""

from __future__ import annotations

import dataclasses
import fcntl
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from headwater.connect.client import DEFAULT_URL
from headwater.errors import HeadwaterError, StateError
from headwater.runtime.facts import Listener, Silent
from headwater.runtime.hosting import Host, Spark
from headwater.runtime.keeping import Comparison, is_saved, made_from
from headwater.runtime.pipeline import Pipeline
from headwater.server.deployed import Deployed
from headwater.server.integrations import whole_script, without_secrets
from headwater.server.journal import Journal, masked_in
from headwater.server.noting import Noting
from headwater.server.reader import Reader
from headwater.server.records import Application, Deed, Deployment, Integration, Version
from headwater.server.refusals import Unwritten
from headwater.server.store import Store

__all__ = ["Deployed", "Server"]

END_SECONDS = 60.0
"""How long all pipelines together may take to end, when the server does."""


class Server:
    """One process, many pipelines. Any thread may call; what changes an application is done one after the other."""

    def __init__(self, folder: Path, spark: Spark | None = None, *, connect_url: str = DEFAULT_URL) -> None:
        """`connect_url` is where Kafka Connect answers, if connectors are to be looked at here."""
        self.folder = folder.absolute()
        self.connect_url = connect_url
        self._closing = ExitStack()
        self._lock_folder()
        self.store = Store(self.folder)
        self._closing.callback(self.store.close)
        self.journal = Journal(self.folder / "logs", self.mask)
        self.host = Host(self.folder, self._scripts, spark)
        self.reader = Reader(self)
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._locking = threading.Lock()
        self._is_closing = self._is_closed = False
        self._deployed: dict[str, Deployed] = {}
        self._before_close: list[Callable[[], None]] = []
        self._others: list[Callable[[], Mapping[str, Pipeline]]] = []
        self._removed: list[Integration] = []

    def start(self) -> None:
        """Start Spark, and again all that ran when the server ended; returns at once."""
        self.journal.note("server started")
        threading.Thread(target=self._start_spark, name="headwater spark", daemon=True).start()
        # One of an application: where the server died while a version took the place of another, both are wanted.
        last = {one.application_id: one for one in self.store.all(Deployment, is_wanted=True)}
        for deployment in last.values():
            self.run(deployment)

    def changing(self, application: Application | None = None) -> AbstractContextManager[bool]:
        """Held by who changes which deployment of an application runs; without one, by who makes or names things."""
        with self._locking:
            return self._locks[application.id if application is not None else ""]

    def stop(self) -> None:
        """Tell all pipelines to end after their step, and whoever waits for one that he will not get it."""
        self._is_closing = True
        for deployed in tuple(self._deployed.values()):
            deployed.stop()

    def close(self) -> None:
        """Let all pipelines end their step and close them; what ran now is started again by the next start.

        One whose database is away may take too long. It is left as in a crash, which costs a repeated batch. Who closes
        it again finds nothing to do.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self.stop()
        for let_go in self._before_close:
            try:
                let_go()
            except HeadwaterError as problem:
                # A job whose database is away, for one: the deployments are closed all the same.
                self.journal.note("something does not end", problem=problem.to_json())
        deadline = time.monotonic() + END_SECONDS
        all_deployed = tuple(self._deployed.values())
        late = [one.name for one in all_deployed if not one.join(max(0.0, deadline - time.monotonic()))]
        self._deployed.clear()
        self.journal.note("server stopped", late=late)
        if not late:
            self._closing.close()

    def before_close(self, let_go: Callable[[], None]) -> None:
        """Have something let go when the server ends, before its deployments are."""
        self._before_close.append(let_go)

    def running(self) -> Mapping[str, Deployed]:
        """Those whose pipeline stands now, by the name of the application."""
        found = {one.name: one for one in tuple(self._deployed.values()) if one.pipeline is not None}
        return dict(sorted(found.items()))

    def others_running(self) -> Mapping[str, Pipeline]:
        """The pipelines that stand now and are no application's: jobs and live queries of sessions, by their names."""
        found = {name: pipeline for look in self._others for name, pipeline in look().items()}
        return dict(sorted(found.items()))

    def look_at(self, others: Callable[[], Mapping[str, Pipeline]]) -> None:
        """Know of pipelines that somebody else runs here."""
        self._others.append(others)

    def readable(self) -> Mapping[str, Pipeline]:
        """The pipelines that stand, or stood last and are over: between two runs of a schedule a view is there too."""
        last = {one.name: one.last_pipeline for one in tuple(self._deployed.values())}
        return {name: pipeline for name, pipeline in sorted(last.items()) if pipeline is not None}

    def deployed(self, application: Application) -> Deployed | None:
        """What runs of an application, or ran last since the server began."""
        return self._deployed.get(application.id)

    def all_deployed(self) -> list[Deployed]:
        """What runs, or ran last, of each application."""
        return sorted(self._deployed.values(), key=lambda one: one.name)

    def run(self, deployment: Deployment) -> Deployed:
        """Let a deployment run; the one that ran before of its application is over."""
        application = self.store.all(Application, id=deployment.application_id)[0]
        version = self.store.all(Version, id=deployment.version_id)[0]

        def opening(listener: Listener) -> Pipeline:
            return self.open(application, version, listener)

        deployed = Deployed(application.name, deployment, opening=opening, changed=self._changed)
        former = self._deployed.get(application.id)
        if former is not None:
            deployed.facts.take_sums(former.facts)
        deployed.facts.add(Noting(self.journal, application))
        self._deployed[application.id] = deployed
        deployed.start()
        if self._is_closing:
            deployed.stop()
        return deployed

    def open(self, application: Application, version: Version, listener: Listener) -> Pipeline:
        """The pipeline of a version, on the State of its application."""
        text, file = self.script(version), _file(application, version)
        state = self.state_of(application)
        return self.host.open(text, application.name, file=file, state=state, listener=listener)

    def script(self, version: Version) -> str:
        """The SQL text of a version, with what its integrations know now; secrets are in it."""
        return whole_script(version.body, self.store)

    def compare(self, application: Application, version: Version) -> Comparison:
        """What a version would keep of the State of its application, and what it would compute anew."""
        text, file = self.script(version), _file(application, version)
        return self.host.compare(text, application.name, file=file, state=self.state_of(application))

    def state_of(self, application: Application) -> Path:
        """The folder in which the State of an application is kept, from version to version."""
        return self.folder / "applications" / application.name

    def has_state(self, application: Application) -> bool:
        """True if a version of it came to its first batch, or nearly."""
        return is_saved(self.state_of(application))

    def made_from(self, application: Application) -> object:
        """What the State of an application was made from; another value means another comparison."""
        return made_from(self.state_of(application))

    def did(self, who: str, action: str, application: Application | None = None, *, detail: str = "") -> None:
        """Write down who did what."""
        name, id = (application.name, application.id) if application else ("", "")
        self.store.add(Deed(who, action, name, detail))
        self.journal.note(action, application=name, id=id, who=who, detail=detail)

    def remove(self, integration: Integration) -> None:
        """Forget an integration. What runs goes on with its secrets, and may name them in an error."""
        self._removed.append(integration)
        self.store.remove(integration)

    def mask(self, text: str) -> str:
        """A text without the secrets of integrations, wherever they may have come from."""
        for integration in (*self.store.all(Integration), *self._removed):
            text = without_secrets(text, integration)
        return text

    def _changed(self, deployment: Deployment, fields: dict[str, Any]) -> Deployment:
        if fields.get("problem") is not None:
            fields["problem"] = masked_in(fields["problem"], self.mask)
        changed = dataclasses.replace(deployment, **fields)
        try:
            self.store.add(changed)
        except Unwritten as problem:
            # On a full disk a pipeline goes on as long as it can. All of it is written again with the next change.
            self.journal.note(
                "deployment not written down", deployment=deployment.id, problem=problem.to_json()
            )
        if changed.status != deployment.status or "problem" in fields:
            self._note_status(changed)
        return changed

    def _note_status(self, deployment: Deployment) -> None:
        application = self.store.all(Application, id=deployment.application_id)[0]
        self.journal.note(
            "deployment is " + deployment.status,
            application=application.name,
            id=application.id,
            deployment=deployment.id,
            problem=deployment.problem,
        )

    def _start_spark(self) -> None:
        try:
            self.host.start(Silent())
        except HeadwaterError as problem:
            self.journal.note("Spark does not start", problem=problem.to_json())

    def _scripts(self) -> Iterator[str]:
        """All versions, but for those whose integrations are gone."""
        for version in self.store.all(Version):
            try:
                yield self.script(version)
            except HeadwaterError as problem:
                self.journal.note("version cannot be read", version=version.id, problem=problem.to_json())

    def _lock_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = self._closing.enter_context((self.folder / "lock").open("w"))
        except OSError as problem:
            raise StateError(
                f'no server can work in "{self.folder}"',
                detail=f"{problem.strerror or problem}.",
                hint="Let it write there, or give it another --state folder.",
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateError(
                f'another server works in "{self.folder}"',
                hint="Stop it, or give this one another --state folder.",
            ) from None


def _file(application: Application, version: Version) -> str:
    """Where the SQL of a version stands, for errors about it."""
    return f"{application.name}-{version.version}.sql"

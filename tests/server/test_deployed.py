"""When a deployment goes on after a restart of the server, and what can be read of it between its runs.

Oracle: the calendar, and what a user was promised.
"""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.errors import SourceError
from headwater.runtime.facts import Listener
from headwater.runtime.pipeline import Pipeline
from headwater.server import deployed as deployed_module
from headwater.server.deployed import Deployed
from headwater.server.records import CANCELED, FAILED, FINISHED, INITIALIZING, RUNNING, Deployment
from tests.postgres.world import wait_for

TOMORROW = time.time() + 86_400
YEARLY = Deployment("application", "version", mode="schedule", cron="0 0 1 1 *", runs=1, started_at=1000.0)


def changed(deployment: Deployment, fields: dict[str, Any]) -> Deployment:
    return dataclasses.replace(deployment, **fields)


def begins(deployment: Deployment) -> float:
    """In how many seconds it begins."""

    def opening(listener: Listener) -> Pipeline:
        raise AssertionError("it is not started")

    return Deployed("shop", deployment, opening=opening, changed=changed)._begins() - time.time()


@pytest.mark.parametrize(
    "was",
    [
        dataclasses.replace(YEARLY, status=RUNNING),  # killed in its first run
        dataclasses.replace(YEARLY, status=INITIALIZING, ended_at=900.0),  # killed in a later one
        dataclasses.replace(YEARLY, status=CANCELED, ended_at=1100.0),  # the server was stopped in a run
    ],
)
def test_a_run_that_the_end_of_the_server_cut_off_is_done_at_once(was: Deployment) -> None:
    assert begins(was) < 5


@pytest.mark.parametrize(
    "was",
    [
        Deployment("application", "version", mode="schedule", cron="0 0 1 1 *"),  # never ran
        dataclasses.replace(YEARLY, status=INITIALIZING, ended_at=1100.0),  # stopped, and resumed
        dataclasses.replace(YEARLY, status=FINISHED, ended_at=1100.0, next_run_at=TOMORROW),
        dataclasses.replace(YEARLY, status=CANCELED, ended_at=1100.0, next_run_at=TOMORROW),
    ],
)
def test_one_that_waits_goes_on_waiting(was: Deployment) -> None:
    assert begins(was) > 5


class Short:
    """A pipeline that has nothing to do."""

    def now(self) -> dict[str, Any]:
        return {}

    def step(self, *, wait: float) -> None:
        """Nothing."""

    def has_reached(self, target: object) -> bool:
        return True

    def close(self) -> None:
        """Nothing."""


def test_a_clock_that_is_set_while_it_waits_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [datetime(2024, 1, 1, 8, tzinfo=UTC).timestamp()]
    monkeypatch.setattr(deployed_module, "time", SimpleNamespace(time=lambda: now[0], monotonic=lambda: 0.0))
    monkeypatch.setattr(deployed_module, "CLOCK_SECONDS", 0.01, raising=False)

    def opening(listener: Listener) -> Pipeline:
        short: Any = Short()
        return short  # type: ignore[no-any-return]  # as far as it is asked

    daily = Deployment("application", "version", mode="schedule", cron="0 9 * * *")
    deployed = Deployed("shop", daily, opening=opening, changed=changed)
    deployed.start()
    wait_for(lambda: deployed.deployment.next_run_at is not None)
    # The machine slept over its time.
    now[0] = datetime(2024, 1, 1, 10, tzinfo=UTC).timestamp()
    wait_for(lambda: deployed.deployment.status == FINISHED)
    assert deployed.deployment.next_run_at == datetime(2024, 1, 2, 9, tzinfo=UTC).timestamp()
    deployed.cancel()
    assert deployed.join(60)


def test_what_is_told_to_run_can_be_read_already() -> None:
    stood: Any = Short()
    seen: list[tuple[Pipeline | None, Pipeline | None]] = []

    def noted(deployment: Deployment, fields: dict[str, Any]) -> Deployment:
        if fields.get("status") == RUNNING:
            seen.append((deployed.pipeline, deployed.last_pipeline))
        return changed(deployment, fields)

    once = Deployment("application", "version", mode="once")
    deployed = Deployed("shop", once, opening=lambda listener: stood, changed=noted)
    deployed.start()
    assert deployed.join(60)
    assert seen == [(stood, stood)]


def test_who_looked_just_before_the_next_run_stands_is_no_stranger() -> None:
    made: list[Any] = []
    seen: list[list[bool]] = []

    def opening(listener: Listener) -> Pipeline:
        made.append(Short())
        stood: Pipeline = made[-1]
        return stood

    def noted(deployment: Deployment, fields: dict[str, Any]) -> Deployment:
        if fields.get("status") == RUNNING:
            seen.append([deployed.has_run(one) for one in made])
        return changed(deployment, fields)

    every = Deployment("application", "version", mode="schedule", every="1s")
    deployed = Deployed("shop", every, opening=opening, changed=noted)
    deployed.start()
    wait_for(lambda: len(seen) > 2)
    deployed.cancel()
    assert deployed.join(60)
    assert seen[:3] == [[True], [True, True], [False, True, True]]


def test_what_ran_last_is_read_while_the_next_run_cannot_be_opened() -> None:
    stood: list[Any] = [Short()]
    first = stood[0]

    def opening(listener: Listener) -> Pipeline:
        if stood:
            pipeline: Pipeline = stood.pop()
            return pipeline
        raise SourceError("the database is away")

    every = Deployment("application", "version", mode="schedule", every="1s", restart_enabled=False)
    deployed = Deployed("shop", every, opening=opening, changed=changed)
    assert deployed.last_pipeline is None
    deployed.start()

    deadline = time.monotonic() + 60
    while deployed.deployment.status != FAILED:
        assert time.monotonic() < deadline, deployed.deployment
        time.sleep(0.01)
        assert deployed.deployment.runs < 2 or deployed.last_pipeline is first
    deployed.cancel()
    assert deployed.join(60)
    assert deployed.last_pipeline is first

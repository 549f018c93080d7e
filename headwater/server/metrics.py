"""What is measured of a server and its pipelines, in the form that Prometheus reads."""

from __future__ import annotations

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.runtime.graph import WINDOW
from headwater.runtime.resources import held_by, resources, retained_for
from headwater.server.deployed import Deployed
from headwater.server.pipelines import rows_per_second
from headwater.server.records import CANCELED, FAILED, FINISHED, INITIALIZING, RUNNING
from headwater.server.server import Server

STATUSES = (INITIALIZING, RUNNING, FINISHED, FAILED, CANCELED)
WHO = ("application",)

COUNTED = (
    ("batches", "headwater_batches", "Batches that are durably done."),
    ("rows", "headwater_rows", "Rows that were read from sources."),
    ("errors", "headwater_errors", "Times that a pipeline failed."),
    ("restarts", "headwater_restarts", "Times that a pipeline was started again after it failed."),
)


def metrics_text(server: Server) -> bytes:
    """Everything that is measured, now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Measured(server))
    return generate_latest(registry)


class _Measured(Collector):
    """Looks at the server when it is asked."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def collect(self) -> Iterator[Metric]:
        """All families of numbers."""
        deployed = self._server.all_deployed()
        yield from _spark()
        yield _status(deployed)
        yield _lag(deployed)
        yield _rate(deployed)
        yield from _retained(deployed)
        yield from _counts(deployed)
        yield _steps(deployed)
        yield from _held(deployed)


def _spark() -> Iterator[Metric]:
    there = resources()
    yield GaugeMetricFamily("headwater_cores", "Cores that Spark has.", value=there.cores)
    yield GaugeMetricFamily(
        "headwater_memory_bytes", "The most that Spark's heap may take.", value=there.memory
    )
    yield GaugeMetricFamily(
        "headwater_memory_used_bytes", "What Spark's heap takes now.", value=there.memory_used
    )


def _status(deployed: list[Deployed]) -> Metric:
    said = "1 for the status that a deployment has."
    family = GaugeMetricFamily("headwater_deployment_status", said, labels=(*WHO, "status"))
    for one in deployed:
        for status in STATUSES:
            family.add_metric((one.name, status), float(one.deployment.status == status))
    return family


def _lag(deployed: list[Deployed]) -> Metric:
    said = "Seconds from the last commit at the source to its batch being visible."
    family = GaugeMetricFamily("headwater_lag_seconds", said, labels=WHO)
    for one in deployed:
        known = [batch.lag for batch in one.facts.recent() if batch.lag is not None]
        if known:
            family.add_metric((one.name,), known[-1])
    return family


def _rate(deployed: list[Deployed]) -> Metric:
    said = f"Rows that were read from sources in a second, over the last {WINDOW:g} seconds."
    family = GaugeMetricFamily("headwater_rows_per_second", said, labels=WHO)
    now = time.time()
    for one in deployed:
        family.add_metric((one.name,), rows_per_second(one.facts.recent(), now))
    return family


def _retained(deployed: list[Deployed]) -> Iterator[Metric]:
    labels = (*WHO, "source", "slot")
    behind = GaugeMetricFamily(
        "headwater_lag_bytes", "Log that the source wrote after what is durably read.", labels=labels
    )
    kept = GaugeMetricFamily(
        "headwater_wal_retained_bytes", "Log that the source cannot remove because of us.", labels=labels
    )
    for one in deployed:
        pipeline = one.pipeline
        for source, found in (retained_for(pipeline) if pipeline is not None else {}).items():
            behind.add_metric((one.name, source, found.slot), found.behind)
            kept.add_metric((one.name, source, found.slot), found.kept)
    yield from (behind, kept)


def _counts(deployed: list[Deployed]) -> Iterator[Metric]:
    for key, name, said in COUNTED:
        family = CounterMetricFamily(name, said, labels=WHO)
        for one in deployed:
            family.add_metric((one.name,), one.facts.counts[key])
        yield family


def _steps(deployed: list[Deployed]) -> Metric:
    said = "Seconds that steps took, by stop of the way."
    family = CounterMetricFamily("headwater_step_seconds", said, labels=(*WHO, "stop"))
    for one in deployed:
        for stop, seconds in dict(one.facts.seconds).items():
            family.add_metric((one.name, stop), seconds)
    return family


def _held(deployed: list[Deployed]) -> Iterator[Metric]:
    busy = GaugeMetricFamily("headwater_busy_cores", "Cores at work for a pipeline.", labels=WHO)
    labels = (*WHO, "relation")
    rows = GaugeMetricFamily("headwater_state_rows", "Rows as they are stored.", labels=labels)
    size = GaugeMetricFamily("headwater_state_bytes", "Bytes of State on disk.", labels=labels)
    for one in deployed:
        pipeline = one.pipeline
        if pipeline is None:
            continue
        held = held_by(pipeline)
        busy.add_metric((one.name,), held.busy_cores)
        for name in held.state_rows:
            rows.add_metric((one.name, name), held.state_rows[name])
            size.add_metric((one.name, name), held.state_bytes[name])
    yield from (busy, rows, size)

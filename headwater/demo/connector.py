"""A Debezium connector of a demo: registered once, watched until it runs and its topics are there."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import KafkaException

from headwater.connect.client import ConnectClient
from headwater.connect.files import Connector
from headwater.connect.troubles import hint_for, reason_of
from headwater.demo.together import News, Tell
from headwater.errors import ConnectError, ServiceError
from headwater.kafka.clients import topics
from headwater.kafka.problems import problem_as

PART = "connector"
TOPIC_SECONDS = 60.0
POLL_SECONDS = 0.2


def run_connector(url: str, connector: Connector, *, tell: Tell) -> None:
    """Register the connector unless the cluster has it as it is, and wait until it runs."""
    client, name = ConnectClient(url), connector.name
    before = client.find(name)
    tell(News(PART, f"registering {name}" if before is None else f"{name} is there already"))
    if before is None or client.config(name) != {"name": name, **connector.config}:
        client.put(connector)
    found = client.wait(name, before=before)
    for part in found.failed:
        raise ConnectError(
            f"connector '{name}' has failed",
            detail=reason_of(part.trace, connector.hidden),
            hint=hint_for(part.trace, name),
        )
    how = "takes a snapshot first" if before is None else "goes on where it was"
    tell(News(PART, f"{name} is {found.parts[0].state} and {how}", is_over=True))


def wait_for_topics(bootstrap: str, wanted: Sequence[str], *, tell: Tell) -> None:
    """Wait until a cluster has these topics."""
    properties, deadline = {"bootstrap.servers": bootstrap}, time.monotonic() + TOPIC_SECONDS
    while True:
        try:
            known = topics(properties)
        except KafkaException as problem:
            raise problem_as(ServiceError, problem, properties) from problem
        missing = [topic for topic in wanted if topic not in known]
        if not missing:
            return
        if time.monotonic() > deadline:
            raise ServiceError(
                f"topic '{missing[0]}' does not appear",
                detail=f"The connector runs, and {TOPIC_SECONDS:.0f} seconds later the topic is not there.",
                hint="See the log of connect in the demo's folder.",
            )
        tell(News(PART, f"waiting for topic {missing[0]}"))
        time.sleep(POLL_SECONDS)

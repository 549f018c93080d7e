"""The letters of a pipeline: what could not be read and was put aside; looked at, sent once more, dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message

from headwater.errors import SourceError, UsageError
from headwater.kafka.clients import producer
from headwater.kafka.problems import problem_as
from headwater.runtime.letters import letters_in
from headwater.runtime.pipeline import Pipeline
from headwater.server.refusals import Missing
from headwater.server.topics import ANSWER_SECONDS, shown_bytes
from headwater.sources.dead_letters import TABLE

SHOWN = 200
"""So many letters are told at once."""


def told(pipeline: Pipeline) -> dict[str, Any]:
    """The first letters, and how many there are; asked between two steps."""
    state = pipeline.states.get(TABLE)
    if state is None:
        return {"is_kept": False, "count": 0, "letters": []}
    found = letters_in(pipeline.engine, state, SHOWN)
    return {"is_kept": True, "count": state.rows, "letters": [_answer(pipeline, one) for one in found]}


def drop(pipeline: Pipeline, ids: Sequence[str]) -> None:
    """Let letters go with the next batch."""
    if pipeline.states.get(TABLE) is None:
        raise _none_kept(pipeline)
    pipeline.letters.drop(ids)


def letter_of(pipeline: Pipeline, id: str) -> Mapping[str, Any]:
    """One letter."""
    state = pipeline.states.get(TABLE)
    if state is None:
        raise _none_kept(pipeline)
    found = [one for one in letters_in(pipeline.engine, state, state.rows) if one["letter"] == id]
    if not found:
        raise Missing("there is no such letter", hint="It may have been dropped.")
    return found[0]


def replay(pipeline: Pipeline, letter: Mapping[str, Any], value: str | None) -> None:
    """Send a message to its topic once more, with another value if one is given: it comes as a new message."""
    node = pipeline.program.tables.get(letter["table_name"])
    properties = getattr(node.table.options, "properties", None) if node is not None else None
    if letter["topic"] is None or properties is None:
        raise UsageError(
            "a row of a database cannot be sent once more",
            hint="Mend it at its source: the change comes by itself. Then drop the letter.",
        )
    failed: list[KafkaError] = []

    def heard(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failed.append(error)

    sent = letter["value"] if value is None else value.encode()
    try:
        client = producer(properties, enable_idempotence=True)
        client.produce(letter["topic"], sent, letter["key"], on_delivery=heard)
        left = client.flush(ANSWER_SECONDS)
    except KafkaException as problem:
        raise problem_as(SourceError, problem, properties) from problem
    if failed:
        raise problem_as(SourceError, KafkaException(failed[0]), properties)
    if left:
        raise SourceError(
            f"topic '{letter['topic']}' has not taken the message within {ANSWER_SECONDS:g} s",
            hint="It may still come. Look at the topic before you send it again.",
        )


def _answer(pipeline: Pipeline, letter: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: letter[name] for name in ("letter", "table_name", "topic", "partition", "offset", "error")}
    more = {name: letter[name] for name in ("column_name", "position")}
    node = pipeline.program.tables.get(letter["table_name"])
    return {
        **named,
        **more,
        "key": shown_bytes(letter["key"]),
        "value": shown_bytes(letter["value"]),
        "can_replay": letter["topic"] is not None and node is not None,
    }


def _none_kept(pipeline: Pipeline) -> Missing:
    return Missing(
        f"'{pipeline.name}' puts nothing aside",
        hint="A table does with 'errors' = 'dead-letter' in its WITH clause.",
    )

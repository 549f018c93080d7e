"""Connectors are found by name, from both sides. Oracle: the texts below."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from headwater import options
from headwater.errors import OptionError, Place
from headwater.sinks.base import SinkType
from headwater.sinks.registry import ONLY_READ, SINK_TYPES, sink_type
from headwater.sources.base import SourceType
from headwater.sources.registry import ONLY_WRITTEN, SOURCE_TYPES, source_type

HERE = Place("shop.sql", 3, 1)


def refusal(find: Callable[[str | None, Place | None], object], name: str | None) -> OptionError:
    with pytest.raises(OptionError) as caught:
        find(name, HERE)
    assert caught.value.place == HERE
    return caught.value


def test_every_name_finds_its_type() -> None:
    assert all(isinstance(source_type(name, None), SourceType) for name in SOURCE_TYPES)
    assert all(isinstance(sink_type(name, None), SinkType) for name in SINK_TYPES)


def test_an_unknown_name_is_told_the_nearest() -> None:
    error = refusal(source_type, "datagn")
    assert error.message == "unknown connector 'datagn'"
    assert error.detail == f"The connectors that can be read are {', '.join(sorted(SOURCE_TYPES))}."
    assert error.hint == "Did you mean 'datagen'?"
    assert refusal(sink_type, "jdbcc").hint == "Did you mean 'jdbc'?"
    assert refusal(sink_type, "zzz").hint == "Use one of these."


def test_a_table_without_a_connector_is_told_what_to_add() -> None:
    error = refusal(source_type, None)
    assert error.message == "the table has no connector"
    assert error.hint == "Add WITH ('connector' = '...') to the CREATE TABLE statement."


def test_a_connector_for_the_other_direction_says_so() -> None:
    assert refusal(source_type, "print").message == "connector 'print' can only be written"
    assert refusal(sink_type, "datagen").message == "connector 'datagen' can only be read"


def test_each_side_knows_what_only_the_other_has() -> None:
    assert set(ONLY_WRITTEN) == set(SINK_TYPES) - set(SOURCE_TYPES)
    assert set(ONLY_READ) == set(SOURCE_TYPES) - set(SINK_TYPES)


def test_others_can_add_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("mine", "headwater.sinks.print:PRINT", "headwater.sinks")
    monkeypatch.setattr(options, "entry_points", lambda group: [added] if group == "headwater.sinks" else [])
    assert sink_type("mine", None) is SINK_TYPES["print"]
    assert refusal(source_type, "mine").message == "connector 'mine' can only be written"

"""Texts that Spark takes for a moment of its own clock, wherever they become a date: DATE_ADD('today', 1)."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

_WORD = re.compile(r"'\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)


class TakenFromClock(Exception):
    """A query would give another answer each day."""


def refuse_texts_of_clock(frame: DataFrame, text: str) -> None:
    """Raise if the rule by which Spark puts the time of now in the place of a text finds one in a query."""
    if not _WORD.search(text):
        return
    plan = frame._jdf.queryExecution().analyzed()
    java = frame.sparkSession._jvm
    assert java is not None
    rules = java.org.apache.spark.sql.catalyst.optimizer
    inside = plan.subqueriesAll()
    for part in [plan, *(inside.apply(i) for i in range(inside.size()))]:
        if not rules.SpecialDatetimeValues.apply(part).fastEquals(part):
            raise TakenFromClock

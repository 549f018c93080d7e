"""Texts that Spark takes for a moment of its own clock, wherever they become a date: DATE_ADD('today', 1)."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

_EPOCH = re.compile(r"'\s*epoch\b", re.IGNORECASE)
_WORD = re.compile(r"'\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)


class TakenFromClock(Exception):
    """A query would give another answer each day."""


def refuse_texts_of_clock(frame: DataFrame, text: str) -> None:
    """Raise if the rule by which Spark puts the time of now in the place of a text finds one in a query.

    The text need not stand there as a word: of 'to' || 'day' Spark makes one, too.
    """
    if _EPOCH.search(text) and not _WORD.search(text):
        # The one such word that is always the same day; the rule does not tell it from the others.
        return
    plan = frame._jdf.queryExecution().analyzed()
    java = frame.sparkSession._jvm
    assert java is not None
    rules = java.org.apache.spark.sql.catalyst.optimizer
    inside = plan.subqueriesAll()
    for part in [plan, *(inside.apply(i) for i in range(inside.size()))]:
        # TRY_TO_DATE and its like hide what they convert, until Spark writes them out.
        written_out = rules.ReplaceExpressions.apply(part)
        if not rules.SpecialDatetimeValues.apply(written_out).fastEquals(written_out):
            raise TakenFromClock

"""Flink's windows of time as tables: TABLE(TUMBLE(...)), HOP, CUMULATE, SESSION.

Each row comes with window_start, window_end and window_time, its last millisecond; of HOP and CUMULATE once for each
window that it lies in. They are written as ordinary queries and maintained as these are: a session that grows
together, or falls apart, is told again with all its rows. A row without a time lies in no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one

from headwater.sql.functions.trees import WrongCall

FORMS = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '10' MINUTES [, offset])",
    "HOP": "HOP(TABLE t, DESCRIPTOR(at), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES [, offset])",
    "CUMULATE": "CUMULATE(TABLE t, DESCRIPTOR(at), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES [, offset])",
    "SESSION": "SESSION(TABLE t [PARTITION BY k], DESCRIPTOR(at), INTERVAL '5' MINUTES)",
}
"""The table functions, and how they are called."""

_TIMES = {"TUMBLE": (1, 2), "HOP": (2, 3), "CUMULATE": (2, 3), "SESSION": (1, 1)}
_MICROS = {
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}

_TUMBLE = """
SELECT d.*, {start} AS window_start, {start} + {size} AS window_end, {start} + {size} - {last} AS window_time
FROM source AS d
WHERE d.{at} IS NOT NULL"""

_HOP = """
SELECT d.*, w.window_start, w.window_start + {size} AS window_end, w.window_start + {size} - {last} AS window_time
FROM source AS d
LATERAL VIEW EXPLODE(SEQUENCE({slide_start} - {size} + {slide}, {slide_start}, {slide})) w AS window_start"""

_CUMULATE = """
SELECT d.*, {start} AS window_start, w.window_end, w.window_end - {last} AS window_time
FROM source AS d
LATERAL VIEW EXPLODE(SEQUENCE({slide_start} + {slide}, {start} + {size}, {slide})) w AS window_end"""

_SESSION = """
SELECT q.* EXCEPT (session__begins, session__number),
  MIN(q.{at}) OVER ({by} q.session__number) AS window_start,
  MAX(q.{at}) OVER ({by} q.session__number) + {size} AS window_end,
  MAX(q.{at}) OVER ({by} q.session__number) + {size} - {last} AS window_time
FROM (
  SELECT p.*, SUM(p.session__begins) OVER ({part_p} ORDER BY p.{at}) AS session__number
  FROM (
    SELECT d.*,
      CASE WHEN d.{at} - LAG(d.{at}) OVER ({part_d} ORDER BY d.{at}) <= {size} THEN 0 ELSE 1 END AS session__begins
    FROM source AS d
    WHERE d.{at} IS NOT NULL
  ) p
) q"""


@dataclass(frozen=True)
class Windowing:
    """A call as it was read: of what, by which column of time, in which intervals."""

    form: str
    source: exp.Expr
    column: str
    intervals: Sequence[exp.Expr]
    keys: Sequence[str] = ()


def windowed(asked: Windowing) -> exp.Select:
    """The query that a call stands for."""
    least, most = _TIMES[asked.form]
    if not least <= len(asked.intervals) <= most:
        raise WrongCall(f"{asked.form} is not called like this", f"Write TABLE({FORMS[asked.form]}).")
    times = [_micros(interval, asked.form) for interval in asked.intervals]
    offset = times.pop() if len(times) > least else 0
    size, slide = times[-1], times[0]
    if size % slide:
        raise WrongCall(
            f"the windows of {asked.form} are no multiple of its steps",
            f"Write TABLE({FORMS[asked.form]}): the second interval holds the first a whole number of times.",
        )
    text = {"TUMBLE": _TUMBLE, "HOP": _HOP, "CUMULATE": _CUMULATE, "SESSION": _SESSION}[asked.form]
    at = exp.to_identifier(asked.column).sql(dialect="spark")
    made = parse_one(
        text.format(
            at=at,
            start=_floor(at, size, offset),
            slide_start=_floor(at, slide, offset),
            size=_interval(size),
            slide=_interval(slide),
            last="INTERVAL '0.001' SECOND",
            by=f"PARTITION BY {''.join(f'q.{key}, ' for key in asked.keys)}",
            part_p=_partition("p", asked.keys),
            part_d=_partition("d", asked.keys),
        ),
        dialect="spark",
    )
    for table in made.find_all(exp.Table):
        source = asked.source.copy()
        source.set("alias", exp.TableAlias(this=exp.to_identifier("d")))
        table.replace(source)
    assert isinstance(made, exp.Select)
    return made


def _partition(alias: str, keys: Sequence[str]) -> str:
    return f"PARTITION BY {', '.join(f'{alias}.{key}' for key in keys)}" if keys else ""


def _floor(at: str, micros: int, offset: int) -> str:
    """The last moment up to a row's own at which a window begins."""
    since = f"UNIX_MICROS(CAST(d.{at} AS TIMESTAMP_LTZ)) - {offset}"
    return f"(d.{at} - INTERVAL '0.000001' SECOND * PMOD({since}, {micros}))"


def _interval(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    return f"INTERVAL '{seconds}.{rest:06}' SECOND"


def _micros(interval: exp.Expr, form: str) -> int:
    unit = str(interval.args.get("unit") or "").lower().removesuffix("s")
    if isinstance(interval, exp.Interval) and unit in _MICROS and interval.name.isdecimal():
        found = int(interval.name) * _MICROS[unit]
        if found:
            return found
    raise WrongCall(
        f"{interval.sql(dialect='spark')} is no length of a window",
        f"Write an interval in days, hours, minutes or seconds: TABLE({FORMS[form]}).",
    )

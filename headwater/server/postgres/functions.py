"""What of a query is known to mean the same to Postgres and to Spark; all else is refused, and never guessed."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.server.postgres.messages import Refusal

_SAME: tuple[type[exp.Func], ...] = (
    # conditions and choices
    *(
        exp.And,
        exp.Or,
        exp.Case,
        exp.If,
        exp.Coalesce,
        exp.Nullif,
        exp.Greatest,
        exp.Least,
        exp.Exists,
        exp.Cast,
    ),
    # aggregates
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.GroupConcat),
    *(exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop, exp.Corr, exp.PercentileCont),
    # windows
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Ntile),
    # numbers
    *(exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Trunc, exp.Sqrt, exp.Pow, exp.Exp, exp.Ln, exp.Sign),
    # texts
    *(
        exp.Upper,
        exp.Lower,
        exp.Length,
        exp.Substring,
        exp.Left,
        exp.Right,
        exp.Concat,
        exp.ConcatWs,
        exp.Trim,
    ),
    *(
        exp.Replace,
        exp.StrPosition,
        exp.SplitPart,
        exp.Pad,
        exp.Repeat,
        exp.Reverse,
        exp.MD5,
        exp.Ascii,
        exp.Chr,
    ),
    *(exp.StartsWith, exp.RegexpLike),
    # days and moments
    *(exp.TimestampTrunc, exp.Extract, exp.TimeToStr, exp.UnixToTime),
    *(exp.CurrentTimestamp, exp.CurrentDate, exp.Localtimestamp),
    # arrays
    *(exp.Array, exp.ArraySize),
)

_SAME_BY_NAME = frozenset(["every", "make_date", "cardinality"])

_CASTS = frozenset(
    [
        *(exp.DType.BOOLEAN, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DECIMAL),
        *(exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.TEXT, exp.DType.VARCHAR),
        *(exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ),
    ]
)

_UNITS = frozenset("YEAR QUARTER MONTH WEEK DAY DOY DOW HOUR MINUTE SECOND EPOCH".split())  # noqa: SIM905  # words

_FORMAT = re.compile(r"(%[YmdHMS]|[-/:., ])*")


def check(tree: exp.Expr) -> None:
    """Refuse what is not known to mean the same."""
    for call in tree.find_all(exp.Func):
        is_same = (
            call.name.lower() in _SAME_BY_NAME if isinstance(call, exp.Anonymous) else type(call) in _SAME
        )
        if not is_same:
            raise _refusal(f"function {_name(call)} is")
    for part in tree.find_all(exp.Extract):
        if part.name.upper() not in _UNITS:
            raise _refusal(f"extract({part.name.lower()} from ...) is")
    for text in tree.find_all(exp.TimeToStr):
        if not _FORMAT.fullmatch(text.args["format"].name):
            raise _refusal("a format other than of YYYY, MM, DD, HH24, MI and SS is")
    for distinct in tree.find_all(exp.Distinct):
        if distinct.args.get("on") is not None:
            raise _refusal("DISTINCT ON is")
    if any(fetch.args.get("limit_options") for fetch in tree.find_all(exp.Fetch)) and "TIES" in tree.sql(
        "postgres"
    ):
        raise _refusal("WITH TIES is")
    for cast in tree.find_all(exp.Cast):
        is_whole = not (cast.to.expressions and cast.to.this in (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ))
        if cast.to.this not in _CASTS or not is_whole:
            raise _refusal(f"a cast to {cast.to.sql('postgres').lower()} is")


def _name(call: exp.Func) -> str:
    return (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()


def _refusal(what: str) -> Refusal:
    return Refusal(
        "0A000", f"{what} not supported here", hint="Let a view compute it, or write it in plainer SQL."
    )

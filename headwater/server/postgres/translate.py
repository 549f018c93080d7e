"""A query in Postgres' SQL becomes one in Spark's that means the same.

Where the two compute differently without saying so, the types decide: whole numbers divide to whole numbers, and a
fraction that becomes a whole number is rounded. What cannot be told is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.dialects import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import TypeAnnotator, annotate_types
from sqlglot.optimizer.qualify import qualify

from headwater.server.postgres.functions import check
from headwater.server.postgres.kinds import Query
from headwater.server.postgres.messages import Refusal
from headwater.server.postgres.reading import Relation

_Type = exp.DType
_SAME_TEXTS = exp.DataType.INTEGER_TYPES | {
    *(_Type.TEXT, _Type.VARCHAR, _Type.BOOLEAN, _Type.DECIMAL, _Type.DATE, _Type.NULL)
}
_FRACTIONS = exp.DataType.FLOAT_TYPES | {_Type.DECIMAL, _Type.BIGDECIMAL, _Type.UDECIMAL}


_BY_TYPE = (exp.Div, exp.Cast, exp.AtTimeZone, exp.Sub, exp.Round, exp.DPipe, exp.Concat, exp.ConcatWs)
"""What means one thing or another, by the types of its parts."""


def to_spark(query: Query, given: Sequence[exp.Expression]) -> exp.Query:
    """The query for Spark, with what its parameters are."""
    check(query.tree)
    tree = query.tree.transform(lambda node: _filled(node, given))
    for rule in _BEFORE_TYPES:
        tree = tree.transform(rule)
    if tree.find(*_BY_TYPE) is not None:
        tree = _typed(tree, query.relations)
    for rule in _BY_TYPES:
        tree = tree.transform(rule)
    try:
        text = tree.sql("spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
        found = sqlglot.parse_one(text, read="spark")
    except SqlglotError as problem:
        raise _not_understood(str(problem)) from None
    assert isinstance(found, exp.Query)
    return found


def _filled(node: exp.Expression, given: Sequence[exp.Expression]) -> exp.Expression:
    if not isinstance(node, exp.Parameter):
        return node
    number = int(node.name) if node.name.isdigit() else 0
    if not 1 <= number <= len(given):
        raise Refusal("42P02", f"there is no parameter ${node.name}")
    return exp.paren(given[number - 1].copy())


def _typed(tree: exp.Expression, relations: Sequence[Relation]) -> exp.Expression:
    """The query with the type of each expression, as far as that is known."""
    schema: dict[str, object] = {}
    for relation in relations:
        columns = {c.name: exp.DataType.build(c.type, dialect="spark") for c in relation.schema}
        tables = schema.setdefault(relation.pipeline, {})
        assert isinstance(tables, dict)
        tables[relation.name] = columns
    try:
        qualified = qualify(tree, schema=schema, dialect="postgres", validate_qualify_columns=False)
        return annotate_types(qualified, schema=schema, dialect="postgres", expression_metadata=_METADATA)
    except SqlglotError as problem:
        raise _not_understood(str(problem)) from None


def _sum_type(annotator: TypeAnnotator, node: exp.Sum) -> exp.Sum:
    """Sums of small whole numbers are whole; those of large ones are exact numbers of any length."""
    annotator._annotate_by_args(node, "this")
    kind = node.type.this if node.type is not None else _Type.UNKNOWN
    if kind in exp.DataType.INTEGER_TYPES:
        node.type = _Type.DECIMAL if kind is _Type.BIGINT else _Type.BIGINT
    return node


def _literal_type(annotator: TypeAnnotator, node: exp.Literal) -> exp.Literal:
    node.type = _Type.VARCHAR if node.is_string else _Type.INT if node.is_int else _Type.DECIMAL
    return node


_METADATA = {
    **Postgres.EXPRESSION_METADATA,
    exp.Sum: {"annotator": _sum_type},
    exp.Literal: {"annotator": _literal_type},
    exp.Extract: {"returns": _Type.DECIMAL},
}
"""Where Postgres has other types than are told of it."""


def _division(node: exp.Expression) -> exp.Expression:
    """7 / 2 is 3; of fractions it is a fraction."""
    if not isinstance(node, exp.Div) or not node.args.get("typed"):
        return node
    kinds = [_kind(side) for side in (node.left, node.right)]
    if any(kind in _FRACTIONS or kind is _Type.NULL for kind in kinds):
        return node
    if all(kind in exp.DataType.INTEGER_TYPES for kind in kinds):
        return exp.IntDiv(this=node.this, expression=node.expression)
    raise _unknown(node)


def _rounding(node: exp.Expression) -> exp.Expression:
    """2.7 as a whole number is 3, a half goes to the even one if it is floating and away from zero if it is exact."""
    if not isinstance(node, exp.Cast) or node.to.this not in exp.DataType.INTEGER_TYPES:
        return node
    kind = _kind(node.this)
    if kind in exp.DataType.FLOAT_TYPES:
        node.set("this", exp.Anonymous(this="RINT", expressions=[node.this]))
    elif kind in _FRACTIONS:
        node.set("this", exp.Round(this=node.this))
    elif kind is _Type.UNKNOWN:
        raise _unknown(node)
    return node


def _exact(node: exp.Expression) -> exp.Expression:
    """An exact number of any length, which Spark does not have: one of as many digits as there can be."""
    if not isinstance(node, exp.Cast) or node.to.this is not _Type.DECIMAL or node.to.expressions:
        return node
    kind = _kind(node.this)
    if kind is _Type.UNKNOWN:
        raise _unknown(node)
    if kind is _Type.DECIMAL:
        return exp.paren(node.this)
    digits = 0 if kind in exp.DataType.INTEGER_TYPES else 17
    return exp.cast(node.this, f"DECIMAL(38, {digits})")


def _as_text(node: exp.Expression) -> exp.Expression:
    """Floating numbers and moments are other texts to Spark."""
    if isinstance(node, exp.Cast) and node.to.this in (_Type.TEXT, _Type.VARCHAR):
        parts = [node.this]
    elif isinstance(node, exp.DPipe):
        parts = [node.left, node.right]
    elif isinstance(node, (exp.Concat, exp.ConcatWs)):
        parts = node.expressions
    else:
        return node
    for part in parts:
        if _kind(part) not in _SAME_TEXTS:
            raise Refusal(
                "0A000",
                f"{part.sql('postgres')} cannot be made a text here",
                detail="Floating numbers and moments would look different.",
                hint="Select it as it is, cast it to numeric, or use to_char.",
            )
    return node


def _round(node: exp.Expression) -> exp.Expression:
    """A half goes to the even number if it is floating."""
    if (
        isinstance(node, exp.Round)
        and not node.args.get("decimals")
        and _kind(node.this) in exp.DataType.FLOAT_TYPES
    ):
        return exp.Anonymous(this="RINT", expressions=[node.this])
    return node


def _days(node: exp.Expression) -> exp.Expression:
    """One day minus another is a number."""
    if isinstance(node, exp.Sub) and _kind(node.left) is _kind(node.right) is _Type.DATE:
        return exp.Anonymous(this="DATEDIFF", expressions=[node.left, node.right])
    return node


def _moments(node: exp.Expression) -> exp.Expression:
    """A type of moments by a name that means the same in every session."""
    names = {_Type.TIMESTAMPTZ: _Type.TIMESTAMPLTZ, _Type.TIMESTAMP: _Type.TIMESTAMPNTZ}
    if isinstance(node, exp.DataType) and node.this in names:
        return exp.DataType(this=names[node.this])
    return node


def _epoch(node: exp.Expression) -> exp.Expression:
    """Seconds since 1970."""
    if not isinstance(node, exp.Extract) or node.name.upper() != "EPOCH":
        return node
    moment = exp.cast(node.expression, "TIMESTAMPTZ", dialect="postgres")
    micros = exp.Anonymous(this="UNIX_MICROS", expressions=[moment])
    seconds = exp.Mul(this=exp.cast(micros, "DECIMAL(20, 0)"), expression=exp.Literal.number("0.000001"))
    return exp.paren(seconds)


def _weekday(node: exp.Expression) -> exp.Expression:
    """Sunday is 0."""
    if isinstance(node, exp.Extract) and node.name.upper() == "DOW":
        sunday_is_one = exp.Anonymous(this="DAYOFWEEK", expressions=[node.expression])
        return exp.paren(exp.Sub(this=sunday_is_one, expression=exp.Literal.number(1)))
    return node


def _shortened(node: exp.Expression) -> exp.Expression:
    """A text that is cast to a length loses its end."""
    if isinstance(node, exp.Cast) and node.to.this is _Type.VARCHAR and node.to.expressions:
        length = node.to.expressions[0].this.copy()
        return exp.Substring(this=exp.cast(node.this, "TEXT"), start=exp.Literal.number(1), length=length)
    return node


def _any(node: exp.Expression) -> exp.Expression:
    """One of an array's elements."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        array = node.expression.this.unnest()
        if isinstance(array, exp.Query):
            return exp.In(this=node.this, query=exp.Subquery(this=array))
        return exp.Anonymous(this="ARRAY_CONTAINS", expressions=[array, node.this])
    return node


def _zone(node: exp.Expression) -> exp.Expression:
    """The clock on a wall somewhere for a moment, or the moment for such a clock."""
    if not isinstance(node, exp.AtTimeZone):
        return node
    kind = _kind(node.this)
    if kind in (_Type.TIMESTAMPTZ, _Type.TIMESTAMPLTZ):
        called = "FROM_UTC_TIMESTAMP"
    elif kind in (_Type.TIMESTAMP, _Type.TIMESTAMPNTZ, _Type.DATE):
        called = "TO_UTC_TIMESTAMP"
    else:
        raise _unknown(node)
    return exp.Anonymous(this=called, expressions=[node.this, node.args["zone"]])


_Rule = Callable[[exp.Expression], exp.Expression]

_BEFORE_TYPES: tuple[_Rule, ...] = (_epoch, _weekday, _any, _shortened)
_BY_TYPES: tuple[_Rule, ...] = (
    _division,
    _rounding,
    _round,
    _exact,
    _as_text,
    _days,
    _zone,
    _moments,
)


def _kind(node: exp.Expr) -> exp.DType:
    inner = node.unnest()
    if isinstance(inner, exp.Null):
        return _Type.NULL
    kind = inner.type.this if inner.type is not None else _Type.UNKNOWN
    assert isinstance(kind, _Type)
    return kind


def _unknown(node: exp.Expression) -> Refusal:
    return Refusal(
        "0A000",
        "the types in this query cannot be told",
        detail=f"What {node.sql('postgres')} means depends on them.",
        hint="Cast each side: CAST(x AS double precision).",
    )


def _not_understood(why: str) -> Refusal:
    return Refusal("0A000", "this query is not understood here", detail=why, hint="Write it in plainer SQL.")

"""What an aggregate keeps so that a change can be added to it: partial sums that cancel exactly.

Counts and exact numbers are plain sums. Floating numbers are kept as decimals, one sum for each decade of eight
digits (a *bin*): the same number always becomes the same decimal, so what goes in and out again leaves no trace, and
neither a huge value, NaN nor infinity can drown a small one.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp, parse_one

from headwater.incremental.change_plan import Analyse
from headwater.incremental.weights import signed, weight
from headwater.plan.nodes import Item
from headwater.schema import WEIGHT

ROW_COUNT = "n"
"""The partial sum that counts rows."""

NOT_A_NUMBER, PLUS_INFINITY, MINUS_INFINITY = 1000, 1001, 1002
"""Bins of the values that are no numbers; they are counted, not added."""

INTEGRAL = ("tinyint", "smallint", "int")


@dataclass(frozen=True)
class Measure:
    """One aggregate call that has an inverse: `kind` of `argument`, both typed by Spark."""

    name: str
    kind: str
    argument: exp.Expr | None
    argument_type: str
    result_type: str

    @property
    def is_float(self) -> bool:
        """True if its sum is kept in bins."""
        return self.kind in ("sum", "avg") and self.argument_type in ("float", "double")

    @property
    def bin(self) -> str:
        """The name of its bin column."""
        return f"b_{self.name}"

    @property
    def count(self) -> str:
        """The name of its count of values that are not NULL."""
        return f"c_{self.name}"

    @property
    def sum(self) -> str:
        """The name of its sum."""
        return f"s_{self.name}"


def measures_of(items: tuple[Item, ...], core: exp.Query, analyse: Analyse) -> tuple[Measure, ...] | None:
    """The calls of a group as measures, None if one of them has no inverse."""
    parsed = [(item.name, _kind_and_argument(item.expression)) for item in items]
    if any(call is None for _, call in parsed):
        return None
    arguments = [
        exp.alias_(argument.copy(), f"x_{name}")
        for name, call in parsed
        if call is not None and (argument := call[1]) is not None
    ]
    results = [exp.alias_(item.expression.copy(), item.name) for item in items]
    argument_types = analyse(exp.select(*arguments).from_(core.subquery("c"))) if arguments else {}
    result_types = analyse(exp.select(*results).from_(core.subquery("c"))) if results else {}
    measures = tuple(
        Measure(name, call[0], call[1], argument_types.get(f"x_{name}", ""), result_types[name])
        for name, call in parsed
        if call is not None
    )
    return measures if all(_has_inverse(measure) for measure in measures) else None


def _kind_and_argument(call: exp.Expr) -> tuple[str, exp.Expr | None] | None:
    condition: exp.Expr | None = None
    if isinstance(call, exp.Filter):
        condition, call = call.expression.this, call.this
    kinds: dict[type[exp.Expr], str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}
    kind = kinds.get(type(call))
    if kind is None or isinstance(call.this, exp.Distinct) or call.expressions:
        return None
    argument = None if isinstance(call.this, exp.Star) else call.this
    if condition is not None:
        value = argument if argument is not None else exp.Literal.number(1)
        argument = exp.case().when(condition.copy(), value.copy())
    return kind, argument


def _has_inverse(measure: Measure) -> bool:
    if measure.kind == "count":
        return True
    if measure.argument_type.startswith("decimal"):
        # An AVG needs room to be divided without rounding twice.
        precision, scale = _digits(measure.argument_type)
        return measure.kind == "sum" or precision + scale <= 20
    return measure.argument_type in (*INTEGRAL, "bigint", "float", "double")


def bins(measures: tuple[Measure, ...]) -> list[exp.Expr]:
    """The bin columns of rows of a core, to group by beside the keys."""
    return [exp.alias_(_bin(m.argument), m.bin) for m in measures if m.is_float and m.argument is not None]


def partial_sums(measures: tuple[Measure, ...]) -> list[exp.Expr]:
    """The partial sums of weighted rows of a core that carry their bins."""
    sums: list[exp.Expr] = [exp.alias_(exp.func("SUM", weight()), ROW_COUNT)]
    for m in measures:
        if m.argument is None:
            continue
        is_null = exp.Is(this=exp.paren(m.argument.copy()), expression=exp.Null())
        counted = exp.case().when(is_null, exp.Literal.number(0)).else_(weight())
        sums.append(exp.alias_(exp.func("SUM", counted), m.count))
        if m.kind != "count":
            sums.append(exp.alias_(exp.func("SUM", _signed(m)), m.sum))
    return sums


def merged(measures: tuple[Measure, ...]) -> list[exp.Expr]:
    """Partial sums added up; decimals keep the type they are stored in."""
    names = [ROW_COUNT, *[m.count for m in measures if m.argument is not None]]
    sums: list[exp.Expr] = [exp.alias_(exp.func("SUM", exp.column(n)), n) for n in names]
    for m in measures:
        if m.kind != "count":
            total = exp.cast(exp.func("SUM", exp.column(m.sum)), stored_type(m), dialect="spark")
            sums.append(exp.alias_(total, m.sum))
    return sums


def stored_type(measure: Measure) -> str:
    """The Spark type in which a measure's partial sum is kept."""
    if measure.is_float:
        return "decimal(38,17)"
    if measure.argument_type.startswith("decimal"):
        precision, scale = _digits(measure.argument_type)
        return f"decimal({min(precision + 10, 38)},{scale})"
    return "bigint" if measure.argument_type in INTEGRAL else "decimal(38,0)"


def columns(measures: tuple[Measure, ...]) -> list[tuple[str, str]]:
    """The stored columns beside the keys, with their Spark types."""
    stored = [(m.bin, "int") for m in measures if m.is_float]
    stored.append((ROW_COUNT, "bigint"))
    stored += [(m.count, "bigint") for m in measures if m.argument is not None]
    return stored + [(m.sum, stored_type(m)) for m in measures if m.kind != "count"]


def _signed(m: Measure) -> exp.Expr:
    """What a row adds, with the sign of its weight."""
    if not m.argument_type.startswith("decimal") or _digits(m.argument_type)[0] <= 34:
        return signed(_addend(m))
    # Spark's unary minus rounds beyond 34 digits; a text does not.
    return _template(
        f"CASE WHEN {WEIGHT} < 0 THEN CAST(CASE WHEN x < 0 THEN SUBSTRING(CAST(x AS STRING), 2)"
        f" ELSE CONCAT('-', CAST(x AS STRING)) END AS {m.argument_type}) ELSE x END",
        x=exp.paren(_addend(m).copy()),
    )


def _addend(m: Measure) -> exp.Expr:
    assert m.argument is not None
    if m.is_float:
        return _scaled(m)
    if m.argument_type.startswith("decimal"):
        return m.argument
    kind = "bigint" if m.argument_type in INTEGRAL else "decimal(20,0)"
    return exp.cast(exp.paren(m.argument.copy()), kind, dialect="spark")


def _bin(argument: exp.Expr | None) -> exp.Expr:
    """The decade of eight digits a number lies in; 1e-304 is the smallest whose power of ten exists."""
    assert argument is not None
    return _template(
        f"CASE WHEN x IS NULL THEN NULL WHEN ISNAN(x) THEN {NOT_A_NUMBER}"
        f" WHEN x = CAST('Infinity' AS DOUBLE) THEN {PLUS_INFINITY}"
        f" WHEN x = CAST('-Infinity' AS DOUBLE) THEN {MINUS_INFINITY}"
        " WHEN x = 0 THEN 0 ELSE CAST(GREATEST(FLOOR(LOG10(ABS(x)) / 8), -38) AS INT) END",
        x=exp.cast(exp.paren(argument.copy()), "double"),
    )


def _scaled(m: Measure) -> exp.Expr:
    assert m.argument is not None
    return _template(
        f"CASE WHEN x IS NULL OR b >= {NOT_A_NUMBER} THEN 0"
        " ELSE CAST(x * POWER(CAST(10 AS DOUBLE), -8 * b) AS DECIMAL(38, 17)) END",
        x=exp.cast(exp.paren(m.argument.copy()), "double"),
        b=exp.column(m.bin),
    )


def result(m: Measure) -> exp.Expr:
    """The value of a measure from the merged partial sums of a group."""
    if m.kind == "count":
        counted = exp.column(m.count if m.argument is not None else ROW_COUNT)
        return exp.func("COALESCE", exp.func("SUM", counted), exp.Literal.number(0))
    count = exp.func("SUM", exp.column(m.count))
    total = _float_total(m) if m.is_float else exp.func("SUM", exp.column(m.sum))
    if m.kind == "avg" and m.argument_type.startswith("decimal"):
        value: exp.Expr = _decimal_average(m, total, count)
    elif m.kind == "avg":
        value = exp.Div(this=exp.cast(total, "double"), expression=count.copy())
    else:
        value = exp.cast(total, m.result_type, dialect="spark")
    return exp.case().when(exp.GT(this=count, expression=exp.Literal.number(0)), value)


def _digits(decimal: str) -> tuple[int, int]:
    """Precision and scale of a decimal type."""
    digits = decimal.removeprefix("decimal").strip("()").replace(" ", "") or "10,0"
    precision, scale = digits.split(",")
    return int(precision), int(scale)


def _decimal_average(m: Measure, total: exp.Expr, count: exp.Expr) -> exp.Expr:
    """Divided as whole numbers, and rounded once, half up: as Spark's own AVG."""
    precision, _ = _digits(m.argument_type)
    _, shown = _digits(m.result_type)
    power = f"CAST(1{'0' * shown} AS DECIMAL({shown + 1}, 0))"
    whole = f"CAST(t * {power} AS DECIMAL(38, 0))"
    rest = f"({whole} % CAST(n AS DECIMAL(20, 0)))"
    quotient = f"CAST(({whole} - {rest}) / CAST(n AS DECIMAL(20, 0)) AS DECIMAL({precision + 8}, 0))"
    up = f"CASE WHEN 2 * ABS({rest}) >= n THEN CAST(SIGN({whole}) AS INT) ELSE 0 END"
    return exp.cast(
        _template(f"CAST({quotient} + {up} AS DECIMAL({precision + 8}, 0)) / {power}", t=total, n=count),
        m.result_type,
        dialect="spark",
    )


def _float_total(m: Measure) -> exp.Expr:
    """Bins added from the smallest up, always in the same order, so that the same sums give the same bits."""
    return _template(
        f"CASE WHEN SUM(IF(b = {NOT_A_NUMBER}, c, 0)) > 0"
        f" OR (SUM(IF(b = {PLUS_INFINITY}, c, 0)) > 0 AND SUM(IF(b = {MINUS_INFINITY}, c, 0)) > 0)"
        " THEN CAST('NaN' AS DOUBLE)"
        f" WHEN SUM(IF(b = {PLUS_INFINITY}, c, 0)) > 0 THEN CAST('Infinity' AS DOUBLE)"
        f" WHEN SUM(IF(b = {MINUS_INFINITY}, c, 0)) > 0 THEN CAST('-Infinity' AS DOUBLE)"
        " ELSE AGGREGATE(ARRAY_SORT(COLLECT_LIST("
        f"IF(b < {NOT_A_NUMBER}, STRUCT(b AS b, s AS s), NULL))), CAST(0 AS DOUBLE),"
        " (t, e) -> t + CAST(e.s AS DOUBLE) * POWER(CAST(10 AS DOUBLE), 8 * e.b)) END",
        b=exp.column(m.bin),
        c=exp.column(m.count),
        s=exp.column(m.sum),
    )


def _template(text: str, **values: exp.Expr) -> exp.Expr:
    """SQL with bare names filled in as trees; names bound inside (lambdas, struct fields) are left alone."""

    def fill(node: exp.Expr) -> exp.Expr:
        is_bare = isinstance(node, exp.Column) and not node.table and node.name in values
        return values[node.name].copy() if is_bare else node

    return parse_one(text, dialect="spark").transform(fill)

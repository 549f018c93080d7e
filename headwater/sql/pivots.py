"""PIVOT and UNPIVOT are written out: the first groups and puts each value's aggregate in a column, the second stacks.

SELECT * FROM sales PIVOT (SUM(total) FOR kind IN ('a', 'b'))
becomes
SELECT * FROM (SELECT day, SUM(total) FILTER (WHERE kind <=> 'a') AS a, ... FROM sales GROUP BY day)

Where a group has no row of the value Spark gives NULL, also for a COUNT, if all measures are numbers or booleans. If one
is anything else, it computes all of them in another way, and each is what it is of no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from headwater.sql.calls import calls_in
from headwater.sql.functions.kinds import Kind, kind_of
from headwater.sql.functions.trees import WrongCall, call

Columns = Mapping[str, exp.DataType | None]
"""Columns with their types, as far as they are known."""

_NUMBERS = (*exp.DataType.NUMERIC_TYPES, exp.DataType.Type.BOOLEAN)
_AS_ARGUMENT = (exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Mode)
_NO_NUMBERS = (exp.ArrayAgg, exp.ArrayUniqueAgg, exp.ArrayConcatAgg, exp.GroupConcat)


def write_out_pivots(query: exp.Query, columns_of: Callable[[exp.Query], Columns]) -> None:
    """Replace the sources of a query that are turned by PIVOT or UNPIVOT.

    `columns_of` tells the columns of a query that is not bound yet.
    """
    for source in list(query.find_all(exp.Table, exp.Subquery)):
        current: exp.Expr = source.copy()
        for pivot in source.args.get("pivots") or []:
            current.set("pivots", None)
            if isinstance(current, exp.Subquery) and not current.alias:
                current.set("alias", exp.TableAlias(this=exp.to_identifier("pivoted")))
            everything = exp.select("*").from_(current.copy())
            if query.args.get("with_"):
                everything.set("with_", query.args["with_"].copy())
            turned = _Turned(pivot, current, columns_of(everything))
            made = turned.stacked() if pivot.args.get("unpivot") else turned.grouped()
            current = made.subquery(pivot.alias or source.alias_or_name or "pivoted", copy=False)
        if source.args.get("pivots"):
            source.replace(current)


@dataclass(frozen=True)
class _Turned:
    """A source, what turns it, and its columns."""

    pivot: exp.Pivot
    source: exp.Expr
    columns: Columns

    @property
    def field(self) -> exp.In:
        """FOR ... IN (...)."""
        found = self.pivot.args["fields"]
        if len(found) != 1 or not isinstance(found[0], exp.In):
            raise WrongCall(
                "PIVOT takes one FOR ... IN (...)",
                "Give several columns as a tuple: FOR (a, b) IN ((1, 2)).",
                self.pivot,
            )
        return found[0]

    def rest(self, used: set[str]) -> list[exp.Column]:
        """The columns that nothing is done to."""
        return [exp.column(name) for name in self.columns if name.lower() not in used]

    def grouped(self) -> exp.Select:
        """PIVOT."""
        by = _parts(self.field.this)
        measures = self.pivot.expressions
        used = {c.name.lower() for e in (*by, *measures) for c in e.find_all(exp.Column)}
        keys = self.rest(used)
        made = exp.select(*keys).from_(self.source)
        if len(measures) > 1 and any(not m.alias and m not in calls_in([m]) for m in measures):
            raise WrongCall("a measure of PIVOT has no name", "Write SUM(total) + 1 AS name.", self.pivot)
        are_numbers = all(self.is_number(measure.unalias()) for measure in measures)
        for value in self.field.expressions:
            same = zip(by, _parts(value.unalias()), strict=True)
            condition = exp.and_(*[exp.NullSafeEQ(this=b.copy(), expression=v.copy()) for b, v in same])
            for measure in measures:
                name = value.alias or "_".join(map(_value_name, _parts(value.unalias())))
                if len(measures) > 1:
                    name = f"{name}_{measure.alias or _measure_name(measure)}"
                cell = _where(measure.unalias(), condition)
                if are_numbers:
                    cell = _unless_empty(measure.unalias(), condition, cell)
                made = made.select(exp.alias_(cell, name, quoted=True))
        return made.group_by(*[key.copy() for key in keys]) if keys else made

    def is_number(self, measure: exp.Expr) -> bool:
        """True unless a measure is known to be neither a number nor a boolean."""
        call = measure.unnest()
        if not isinstance(call, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.Anonymous):
            if (made := kind_of(call, {})) is not Kind.OTHER:
                return made is Kind.BOOLEAN
            if isinstance(call, exp.Cast):
                return call.to.this in _NUMBERS
            return all(map(self.is_number, calls_in([call])))
        bare = call.this if isinstance(call, exp.Filter) else call
        if not isinstance(bare, _AS_ARGUMENT):
            return bare.find(*_NO_NUMBERS) is None
        given = bare.this.unnest()
        if isinstance(given, exp.Column | exp.Cast):
            kind = self.columns.get(given.name.lower()) if isinstance(given, exp.Column) else given.to
            return kind is None or kind.this in _NUMBERS
        return kind_of(given, {}) in (Kind.BOOLEAN, Kind.OTHER)

    def stacked(self) -> exp.Select:
        """UNPIVOT."""
        values = [part.name for part in _parts(self.pivot.expressions[0])]
        rows = [(_parts(item.unalias()), item.alias) for item in self.field.expressions]
        used = {column.name.lower() for parts, _ in rows for column in parts}
        # An array makes its rows of one type, as UNPIVOT does.
        made_rows: list[exp.Expr] = []
        for parts, alias in rows:
            cells = [exp.Literal.string(alias or "_".join(part.name for part in parts)), *parts]
            fields = [(exp.Literal.string(f"c{i}"), cell.copy()) for i, cell in enumerate(cells)]
            made_rows.append(call("NAMED_STRUCT", *[part for field in fields for part in field]))
        stack = exp.Lateral(
            this=exp.Inline(this=call("ARRAY", *made_rows)),
            view=True,
            alias=exp.TableAlias(
                this=exp.to_identifier("stacked"),
                columns=[exp.to_identifier(name) for name in (self.field.this.name, *values)],
            ),
        )
        names = [exp.column(name, "stacked") for name in (self.field.this.name, *values)]
        made = exp.select(*self.rest(used), *names).from_(self.source)
        made.append("laterals", stack)
        if self.pivot.args.get("include_nulls"):
            return made
        known = [exp.not_(exp.Is(this=name.copy(), expression=exp.null())) for name in names[1:]]
        return made.where(exp.or_(*known))


def _value_name(value: exp.Expr) -> str:
    """What Spark calls the column of a value that has no name of its own."""
    if isinstance(value, exp.Boolean | exp.Null):
        return value.sql(dialect="spark").lower()
    return f"-{_value_name(value.this)}" if isinstance(value, exp.Neg) else value.name


def _measure_name(measure: exp.Expr) -> str:
    """What Spark calls an aggregate that has no name of its own."""
    written = measure.transform(
        lambda node: exp.to_identifier(node.name) if isinstance(node, exp.Identifier) else node
    )
    return written.sql(dialect="spark", normalize_functions="lower").replace("count(*)", "count(1)")


def _parts(node: exp.Expr) -> list[exp.Expr]:
    whole = node.unnest()
    return list(whole.expressions) if isinstance(whole, exp.Tuple) else [whole]


def _where(measure: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """An aggregate over the rows that meet a condition."""
    made = measure.copy()
    for found in calls_in([made]):
        bare, asked = found, condition
        if isinstance(found, exp.Filter):
            bare, asked = found.this, exp.and_(found.expression.this, condition)
        few = exp.Filter(this=bare.copy(), expression=exp.Where(this=asked.copy()))
        made = few if found is made else made
        found.replace(few)
    return made


def _unless_empty(measure: exp.Expr, condition: exp.Expr, made: exp.Expr) -> exp.Expr:
    """What was made of a measure; NULL if no row meets the condition."""
    if isinstance(measure.unnest(), exp.Sum | exp.Min | exp.Max | exp.Avg):
        return made
    some = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=condition.copy()))
    return exp.case().when(exp.GT(this=some, expression=exp.Literal.number(0)), made)

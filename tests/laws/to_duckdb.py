"""From Spark's SQL to DuckDB's: by sqlglot, and where that is not the same, here, each with its reason."""

from __future__ import annotations

from functools import cache

from sqlglot import exp, parse_one

MACROS = (
    # sqlglot leaves functions alone that it does not know.
    "CREATE MACRO array_repeat(x, n) AS repeat([x], n)",
    "CREATE MACRO raise_error(told) AS error(told)",
)
"""Functions of Spark that DuckDB has by another name."""


def to_duckdb(text: str) -> str:
    """A query in Spark's words, in DuckDB's."""
    # By way of the text: only the parser of Spark's dialect knows where Spark puts NULLs in an order.
    tree = parse_one(text, dialect="spark")
    for rewrite in (
        _strict_casts,
        _floats_by_their_digits,
        _lateral_views,
        _split_wholly,
        _no_total_of_nothing,
    ):
        rewrite(tree)
    return tree.sql(dialect="duckdb")


def _strict_casts(tree: exp.Expr) -> None:
    """Spark's CAST raises where a value does not fit; sqlglot takes it for one that gives NULL, as it did of old."""
    for cast in list(tree.find_all(exp.TryCast)):
        cast.replace(exp.Cast(this=cast.this, to=cast.args["to"]))


def _floats_by_their_digits(tree: exp.Expr) -> None:
    """Spark makes a decimal from the digits a float is printed with; DuckDB multiplies, and the last ones are wrong.

    Only partial sums of floats have this type.
    """
    for cast in list(tree.find_all(exp.Cast)):
        if cast.to == exp.DataType.build("decimal(38,17)"):
            cast.set("this", exp.cast(cast.this.copy(), "text"))


def _lateral_views(tree: exp.Expr) -> None:
    """A LATERAL VIEW is a join with what is made of each row; sqlglot forgets OUTER, and the name beside POSEXPLODE."""
    for select in tree.find_all(exp.Select):
        for lateral in select.args.pop("laterals", None) or []:
            rows = exp.select(*_made_of_one(lateral.this)).subquery()
            joined = exp.Lateral(this=rows, alias=lateral.args["alias"])
            if lateral.args.get("outer") or isinstance(lateral.this, exp.ExplodeOuter):
                select.join(joined, on=exp.true(), join_type="left", copy=False)
            else:
                select.join(joined, join_type="cross", copy=False)


def _made_of_one(generator: exp.Expr) -> list[exp.Expr]:
    """The columns that a generator makes of one row, as many times as there are elements."""
    elements = _call("UNNEST", generator.this)
    match generator:
        case exp.Posexplode():  # a kind of Explode, hence first
            return [_call("UNNEST", _call("RANGE", _call("LEN", generator.this))), elements]
        case exp.Explode():
            return [elements]
        case exp.Inline():
            depth = exp.Kwarg(this=exp.var("max_depth"), expression=exp.Literal.number(2))
            return [_call("UNNEST", generator.this, depth)]
    raise NotImplementedError(generator.sql(dialect="spark"))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def _split_wholly(tree: exp.Expr) -> None:
    """A limit of -1 says that SPLIT has none, which is all that DuckDB knows."""
    for split in tree.find_all(exp.RegexpSplit):
        limit = split.args.get("limit")
        assert limit is None or limit.sql() == "-1"
        split.set("limit", None)


def _no_total_of_nothing(tree: exp.Expr) -> None:
    """In Spark ROLLUP and the like have no grand total of no rows; in DuckDB they do, unless rows are asked for."""
    for group in tree.find_all(exp.Group):
        if group.find(exp.Rollup, exp.Cube, exp.GroupingSets) and isinstance(group.parent, exp.Select):
            group.parent.having("COUNT(*) > 0", copy=False)


@cache
def type_in_duckdb(kind: str) -> str:
    """A type as Spark prints it in DuckDB's words: `string` is `TEXT`."""
    return exp.DataType.build(kind, dialect="spark").sql(dialect="duckdb")


def type_in_spark(kind: str) -> str:
    """A type as DuckDB prints it in Spark's words: `VARCHAR` is `string`, and a sum of whole numbers is `bigint`."""
    if kind == "HUGEINT":
        return "bigint"
    return exp.DataType.build(kind, dialect="duckdb").sql(dialect="spark").lower()

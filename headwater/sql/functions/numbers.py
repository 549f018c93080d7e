"""Functions of numbers, and GREATEST and LEAST, which are NULL if any argument is."""

from __future__ import annotations

from sqlglot import exp

from headwater.sql.functions.trees import call, case, counted, enclosed, is_certain, is_null, number


def truncate(arguments: list[exp.Expr]) -> exp.Expr:
    """TRUNCATE: towards zero, at a number of decimal places."""
    value, places = counted("TRUNCATE", arguments, 1, 2)
    assert value is not None
    digits = places or number(0)
    is_negative = exp.LT(this=enclosed(value), expression=number(0))
    return case((is_negative, call("ceil", value, digits)), otherwise=call("floor", value, digits))


def extreme(node: exp.Greatest | exp.Least) -> exp.Expr:
    """GREATEST or LEAST: one NULL makes the result NULL."""
    arguments = [node.this, *node.expressions]
    plain = call(node.sql_name(), *arguments) if len(arguments) > 1 else node.this.copy()
    doubtful = [argument for argument in arguments if not is_certain(argument)]
    if not doubtful or len(arguments) == 1:
        return plain
    return case((exp.or_(*map(is_null, doubtful)), exp.Null()), otherwise=plain)


def percentile(arguments: list[exp.Expr]) -> exp.Expr:
    """PERCENTILE: the library knows no third argument, how often each value counts."""
    if arguments and isinstance(arguments[0], exp.Distinct):
        first, *others = arguments[0].expressions
        arguments = [exp.Distinct(expressions=[first]), *others]
    value, share, _ = counted("PERCENTILE", arguments, 2, 3)
    known = exp.Quantile(this=value, quantile=share)
    return known if len(arguments) == 2 else call("percentile", *arguments)

"""Small trees of Spark SQL, and the error for a call that cannot be written so."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

TEXT = exp.DataType.Type.TEXT
NTZ = exp.DataType.Type.TIMESTAMPNTZ
LTZ = exp.DataType.Type.TIMESTAMPLTZ


class WrongCall(Exception):
    """A call of a function that cannot be: what is wrong, what to do, and the node to point at if there is one."""

    def __init__(self, message: str, hint: str, node: exp.Expr | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.node = node


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function of Spark, which no generator changes: `call("get", array, index)`."""
    return exp.Anonymous(this=name.upper(), expressions=[argument.copy() for argument in arguments])


def text(value: str) -> exp.Literal:
    """A string."""
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """A whole number; a negative one is written with its sign."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def cast(value: exp.Expr, kind: exp.DType | str) -> exp.Cast:
    """CAST(value AS kind)."""
    return exp.cast(value.copy(), kind, dialect="spark")


def try_cast(value: exp.Expr, kind: exp.DType | str) -> exp.TryCast:
    """TRY_CAST(value AS kind)."""
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(kind, dialect="spark"), safe=True)


def case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr | None = None) -> exp.Case:
    """CASE WHEN condition THEN value ... [ELSE otherwise] END."""
    made = exp.Case()
    for condition, value in branches:
        made = made.when(condition, value)
    return made.else_(otherwise) if otherwise is not None else made


def is_null(value: exp.Expr) -> exp.Is:
    """`value IS NULL`."""
    return exp.Is(this=enclosed(value), expression=exp.Null())


def is_not_null(value: exp.Expr) -> exp.Not:
    """`NOT value IS NULL`."""
    return exp.Not(this=is_null(value))


def enclosed(value: exp.Expr) -> exp.Expr:
    """A copy of a value that can stand beside an operator."""
    is_alone = isinstance(value, exp.Column | exp.Literal | exp.Func | exp.Paren | exp.Null | exp.Identifier)
    return value.copy() if is_alone else exp.paren(value)


def lambda_(body: exp.Expr, *names: str) -> exp.Lambda:
    """`x -> body`; the names stand in the body as `variable(name)`."""
    return exp.Lambda(this=body, expressions=[variable(name) for name in names])


def variable(name: str) -> exp.Identifier:
    """What a lambda calls by this name."""
    return exp.to_identifier(name)


def literal_text(value: exp.Expr | None) -> str | None:
    """The string a literal stands for, None if it is anything else."""
    return value.this if isinstance(value, exp.Literal) and value.is_string else None


def literal_int(value: exp.Expr | None) -> int | None:
    """The whole number a literal stands for, None if it is anything else."""
    if isinstance(value, exp.Neg):
        inner = literal_int(value.this)
        return None if inner is None else -inner
    is_whole = isinstance(value, exp.Literal) and not value.is_string and value.this.isdecimal()
    return int(value.this) if is_whole else None  # type: ignore[union-attr]  # a literal, as asked above


def is_certain(value: exp.Expr) -> bool:
    """True for a literal, which is never NULL."""
    return isinstance(value, exp.Literal | exp.Boolean) or literal_int(value) is not None


def counted(name: str, arguments: Sequence[exp.Expr], least: int, most: int) -> list[exp.Expr | None]:
    """The arguments of a call, the missing ones None; a number that does not fit is an error."""
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise WrongCall(
            f"{name} takes {wanted} arguments, not {len(arguments)}", f"Give {name} {wanted} arguments."
        )
    return [*arguments, *[None] * (most - len(arguments))]

"""How JSON writes values, and the careful second look at what the fast parser could not read.

The parser is asked for numbers and truth values as such, so that whole messages pass at its own speed. What it cannot
read so (`"5"` where INT is declared, 12 digits where 10 are) makes it give the message up; then every field is taken
as it stands and converted one by one, or named in the error.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.formats.kinds import JsonFormat
from headwater.formats.shapes import ArrayOf, Atom, MapOf, RowOf, Shape, type_text
from headwater.formats.trees import (
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each,
    each_value,
    either,
    given,
    is_null,
    let,
    like_pattern,
    negated,
    null,
    number,
    part,
    row_or_null,
    text,
    try_cast,
)
from headwater.formats.values import SHOWN, Bind, Language, Leaf, unreadable

LARGEST_FLOAT = "3.4028235677973366E38"
"""From here on a double rounds to an infinite float."""

_DATE = r"^\d{4}-\d\d-\d\d$"
_TIME = r"\d\d:\d\d:\d\d(\.\d{0,9})?"


def json_language(options: JsonFormat) -> Language:
    """How plain JSON writes each type."""
    between, shown = (
        ("T", "2020-12-30T12:13:14.123")
        if options.timestamp_format != "SQL"
        else (
            " ",
            "2020-12-30 12:13:14.123",
        )
    )
    stamp = rf"^\d{{4}}-\d\d-\d\d{between}{_TIME}"

    def leaf(atom: Atom) -> Leaf:
        match atom.name:
            case "timestamp_ntz":
                return patterned(atom, stamp + "$", expects=shown)
            case "timestamp":
                return patterned(atom, stamp + r"(Z|[+-]\d\d:\d\d)$", expects=f"{shown}Z")
            case "date":
                return patterned(atom, _DATE, expects="2020-12-30")
        return _PLAIN.get(atom.name) or Leaf(atom.name)

    return leaf


def patterned(atom: Atom, pattern: str, *, expects: str) -> Leaf:
    """A text of one form only; Spark's own cast takes many more, and completes what is missing."""
    return Leaf(
        "string", lambda raw, _: case((like_pattern(raw, pattern), try_cast(raw, atom.name))), expects=expects
    )


def narrow_float(value: Tree) -> Tree:
    """A double as a float; NULL for a finite one that is too large."""
    size = call("abs", value)
    finite = exp.LT(this=size, expression=cast(text("Infinity"), "double"))
    large = exp.GT(this=size.copy(), expression=cast(text(LARGEST_FLOAT), "double"))
    return case((negated(both(finite, large)), cast(value, "float")))


def truth(value: Tree) -> Tree:
    """`true` and `false`, in any case."""
    word = call("lower", call("trim", value))
    return case(
        (exp.EQ(this=word, expression=text("true")), exp.true()),
        (exp.EQ(this=word.copy(), expression=text("false")), exp.false()),
    )


def _base64(raw: Tree, _: Bind) -> Tree:
    return call("try_to_binary", raw, "base64")


_PLAIN = {
    # The parser would take 200 for a byte and make it -56.
    "tinyint": Leaf("int", lambda raw, _: try_cast(raw, "tinyint")),
    "float": Leaf("double", lambda raw, _: narrow_float(raw)),
    "binary": Leaf("string", _base64, expects="base64"),
}


def careful(value: Tree, shape: Shape, language: Language) -> Tree:
    """What the fast parser would have given, from a variant; NULL where it does not fit."""
    match shape:
        case Atom():
            return _careful_atom(value, language(shape).read)
        case ArrayOf(inner):
            return each("transform", _as(value, "array<variant>"), lambda x: careful(x, inner, language))
        case MapOf(_, inner):
            return each_value(_as(value, "map<string,variant>"), lambda x: careful(x, inner, language))
        case RowOf(fields):
            return let(
                _as_row(value, fields),
                lambda x: row_or_null(
                    x, [(name, careful(part(x, name), inner, language)) for name, inner in fields]
                ),
            )


def _careful_atom(value: Tree, read: str) -> Tree:
    match read:
        case "variant":
            return value
        case "string":
            return _as(value, "string")
        case "boolean":
            return truth(_as(value, "string"))
    return try_cast(_as(value, "string"), read)


def _as(value: Tree, kind: str) -> Tree:
    return call("try_variant_get", value, "$", kind)


def _as_row(value: Tree, fields: tuple[tuple[str, Shape], ...]) -> Tree:
    return _as(value, type_text(RowOf(tuple((name, Atom("variant")) for name, _ in fields))))


def careful_misfits(value: Tree, shape: Shape, language: Language) -> Tree:
    """The condition that a variant is not what the fast parser wants."""
    match shape:
        case Atom():
            if language(shape).read in ("string", "variant"):
                return exp.false()
            return both(given(_as(value, "string")), is_null(careful(value, shape, language)))
        case ArrayOf(inner):
            array = _as(value, "array<variant>")
        case MapOf(_, inner):
            array = call("map_values", _as(value, "map<string,variant>"))
        case RowOf(fields):
            parts = _as_row(value, fields)
            return both(
                _there(value), either(is_null(parts), let(parts, lambda x: _any(x, fields, language)))
            )
    inside = each("exists", array, lambda x: careful_misfits(x, inner, language))
    return both(_there(value), either(is_null(array), inside))


def _there(value: Tree) -> Tree:
    return both(given(value), negated(call("is_variant_null", value)))


def _any(parts: Tree, fields: tuple[tuple[str, Shape], ...], language: Language) -> Tree:
    conditions = [careful_misfits(part(parts, name), inner, language) for name, inner in fields]
    return either(*[condition for condition in conditions if condition != exp.false()])


def careful_complaint(value: Tree, shape: Shape, language: Language, *, path: str) -> Tree:
    """What is wrong with a variant that misfits."""
    said = _as(value, "string")
    match shape:
        case Atom():
            return unreadable(said, shape, path=path)
        case ArrayOf(inner):
            array, wanted, where = _as(value, "array<variant>"), "an array", f"{path}[]"
        case MapOf(_, inner):
            array = call("map_values", _as(value, "map<string,variant>"))
            wanted, where = "an object", f"{path}{{}}"
        case RowOf(fields):
            return _row_complaint(value, fields, language, path=path)
    wrong = each("filter", array, lambda x: careful_misfits(x, inner, language))
    first = call("try_element_at", wrong, number(1))
    inside = let(first, lambda x: careful_complaint(x, inner, language, path=where))
    return case((is_null(array), _is_not(said, wanted, path)), default=inside)


def _is_not(said: Tree, wanted: str, path: str) -> Tree:
    return concat(f'field "{path}" is not {wanted}: ', call("left", said, number(SHOWN)))


def _row_complaint(
    value: Tree, fields: tuple[tuple[str, Shape], ...], language: Language, *, path: str
) -> Tree:
    parts = _as_row(value, fields)

    def inside(x: Tree) -> Tree:
        branches = []
        for name, inner in fields:
            condition = careful_misfits(part(x, name), inner, language)
            if condition != exp.false():
                told = careful_complaint(part(x, name), inner, language, path=f"{path}.{name}")
                branches.append((condition, told))
        return case(*branches) if branches else null("string")

    return case(
        (is_null(parts), _is_not(_as(value, "string"), "an object", path)), default=let(parts, inside)
    )

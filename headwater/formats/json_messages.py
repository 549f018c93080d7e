"""Bytes that hold one JSON object, parsed in one pass.

Most messages are what they should be, and the parser's own types are the columns'. The others are read again with care:
as a map of names to whatever stands there, in which numbers written as text become numbers (`"5"` for INT), and what
still does not fit is named. All of that is short code over names, and costs nothing where it is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from headwater.formats.json_values import careful, careful_complaint, careful_misfits
from headwater.formats.layers import Layers
from headwater.formats.shapes import Atom, RowOf, Shape, type_text
from headwater.formats.trees import (
    Body,
    Tree,
    both,
    call,
    case,
    cast,
    concat,
    each,
    each_entry,
    either,
    equals,
    first_of,
    given,
    is_null,
    let,
    negated,
    null,
    number,
    part,
    row,
    text,
)
from headwater.formats.values import SHOWN, Language, read_shape

WRONG = "__hw_wrong"
"""Where the parser puts a message it cannot read."""

Fields = tuple[tuple[str, Shape], ...]

_OPTIONS = {
    "columnNameOfCorruptRecord": WRONG,
    "allowSingleQuotes": "false",
    "allowUnquotedControlChars": "true",
    # In most places "1,5" would be read as the number 15.
    "locale": "de-CH",
}
_ROW, _BROKEN, _MISFIT = "__hw_row", "__hw_broken", "__hw_misfit"
_SPACE = " \n\r\t"
ANYTHING = "map<string,variant>"
"""What any JSON object can be read as."""


@dataclass(frozen=True)
class Parsed:
    """What bytes hold: the fields as they were read, in their order, and what is wrong, NULL if nothing is."""

    raws: tuple[Tree, ...]
    broken: Tree
    """What makes the whole message unreadable."""
    misfit: Tree
    """Which field is of another type than the parser wants; that field is NULL in `raws`."""


@dataclass(frozen=True)
class Look:
    """The first look at some bytes: their text, what the parser made of it, and whether that is all there is."""

    said: Tree
    fast: Tree
    fine: Tree
    schema: str
    """What the parser was asked for."""
    what: str
    """What errors call the bytes."""

    @property
    def unread(self) -> Tree:
        """There are bytes, and the first look is not enough."""
        return both(given(self.said), negated(self.fine))

    def again(self, body: Body) -> Tree:
        """`body` of a second look: a map of names to whatever stands there, NULL if there is no object."""
        return case((self.unread, let(from_json(self.said, ANYTHING), body)))

    def broken(self, loose: Tree) -> Tree:
        """Why the bytes are not a JSON object, NULL if they are one."""
        shown = call("left", self.said, number(SHOWN))
        end = exp.Trim(this=self.said.copy(), expression=text(_SPACE), position="TRAILING")
        no_json = both(is_null(loose), is_null(call("try_parse_json", self.said)))
        return case(
            (negated(call("is_valid_utf8", self.said)), text(f"the {self.what} is not UTF-8")),
            (equals(end, text("")), text(f"the {self.what} is empty")),
            (no_json, concat(f"the {self.what} is not JSON: ", shown)),
            (is_null(loose), concat(f"the {self.what} is not a JSON object: ", shown)),
            (
                negated(call("endswith", end, "}")),
                concat(f"something follows the JSON object of the {self.what}: ", shown),
            ),
        )


def look_at(layers: Layers, source: Tree, fields: Fields, *, language: Language, what: str) -> Look:
    """Parse a column of bytes; `what` names it in errors."""
    said = cast(source, "string")
    asked = [*((name, read_shape(shape, language)) for name, shape in fields), (WRONG, Atom("string"))]
    schema = type_text(RowOf(tuple(asked)))
    fast = layers.put(from_json(said, schema))
    fine = both(
        given(fast),
        is_null(part(fast, WRONG)),
        call("is_valid_utf8", said),
        either(call("endswith", said, "}"), call("endswith", said, "}\n")),
    )
    return Look(said, fast, fine, schema, what)


def parse_json(layers: Layers, source: Tree, fields: Fields, *, language: Language, what: str) -> Parsed:
    """Parse a column of bytes, and read it again with care where its fields are not what they should be."""
    look = look_at(layers, source, fields, language=language, what=what)
    exact = {
        n: shape.name for n, shape in fields if isinstance(shape, Atom) and language(shape).read != "string"
    }
    nested = {name: shape for name, shape in fields if not isinstance(shape, Atom)}

    def with_care(loose: Tree) -> Tree:
        mended = _mended(loose, list(exact), leave=list(nested))
        misfits = [_first_misfit(look, loose, mended, exact)] if exact else []
        misfits += [_careful_told(name, shape, language)(loose) for name, shape in nested.items()]
        return row(
            [
                (_ROW, from_json(call("to_json", mended), look.schema)),
                *((name, _careful(name, shape, language)(loose)) for name, shape in nested.items()),
                (_BROKEN, look.broken(loose)),
                (_MISFIT, first_of(*misfits, null("string"))),
            ]
        )

    # One value for all of it, so that whether the first look is enough is asked once.
    at_once = row(
        [
            (_ROW, look.fast),
            *((name, part(look.fast, name)) for name in nested),
            (_BROKEN, null("string")),
            (_MISFIT, null("string")),
        ]
    )
    made = layers.put(case((look.fine, at_once), default=look.again(with_care)))
    raws = [part(made, name) if name in nested else part(part(made, _ROW), name) for name, _ in fields]
    return Parsed(tuple(raws), part(made, _BROKEN), part(made, _MISFIT))


def _careful(name: str, shape: Shape, language: Language) -> Body:
    return lambda loose: careful(call("try_element_at", loose, name), shape, language)


def _careful_told(name: str, shape: Shape, language: Language) -> Body:
    def told(loose: Tree) -> Tree:
        value = call("try_element_at", loose, name)
        complaint = careful_complaint(value, shape, language, path=name)
        return case((careful_misfits(value, shape, language), complaint))

    return told


def from_json(said: Tree, schema: str) -> Tree:
    """The parser, strict where Flink's is."""
    options: list[Tree | str] = [word for pair in _OPTIONS.items() for word in pair]
    return call("from_json", said, schema, call("map", *options))


def _mended(loose: Tree, exact: list[str], *, leave: list[str]) -> Tree:
    """The map with numbers and truth values where text says them, without the fields to `leave` aside."""
    kept = loose
    if leave:
        aside = call("array", *leave)
        kept = each_entry("map_filter", loose, lambda k, x: negated(call("array_contains", aside, k)))
    if not exact:
        return kept

    def mended(name: Tree, value: Tree) -> Tree:
        is_text = equals(call("schema_of_variant", value), text("STRING"))
        word = call("lower", call("trim", call("try_variant_get", value, "$", "string")))
        # JSON has numbers without a plus and without leading zeros only.
        bare = call("regexp_replace", word, r"^\+?(-?)0*(?=\d)", "$1")
        is_meant = exp.RegexpLike(this=bare, expression=text(r"^(-?\d.*|true|false)$"))
        meant = case((is_meant, call("try_parse_json", bare)))
        wanted = both(call("array_contains", call("array", *exact), name), is_text)
        return case((wanted, first_of(meant, value)), default=value)

    return each_entry("transform_values", kept, mended)


def _first_misfit(look: Look, loose: Tree, mended: Tree, exact: dict[str, str]) -> Tree:
    """The complaint about the first field that the parser refuses when it is alone."""

    def refused(fields: Tree, name: Tree) -> Tree:
        alone = call("to_json", call("map", name, call("try_element_at", fields, name)))
        return given(part(from_json(alone, look.schema), WRONG))

    def told(name: Tree) -> Tree:
        kinds = call("map", *[word for pair in exact.items() for word in pair])
        shown = call("try_variant_get", call("try_element_at", loose, name), "$", "string")
        kind = call("element_at", kinds, name)
        return concat('field "', name, '" cannot be read as ', kind, ": ", call("left", shown, number(SHOWN)))

    wrong = let(mended, lambda x: each("filter", call("array", *exact), lambda name: refused(x, name)))
    return let(call("try_element_at", wrong, number(1)), told)

"""Calls with a syntax of their own: `JSON_VALUE(x, '$.a' RETURNING INT NULL ON EMPTY)` and the like."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from headwater.sql.functions import json_read, json_write
from headwater.sql.functions.json_path import JsonPath
from headwater.sql.functions.json_read import ERROR, Otherwise, Query, path_of
from headwater.sql.functions.missing import refuse_missing
from headwater.sql.functions.rewrites import BUILDERS, SPARKS
from headwater.sql.functions.trees import WrongCall, call, cast, text

Instead = exp.Expr | Literal["ERROR"] | None
_CLAUSES = "Write the clauses in this order: RETURNING type, a WRAPPER, ... ON EMPTY, ... ON ERROR."


_BUILT = {**SPARKS, **BUILDERS}


class FunctionSyntax(SparkParser):
    """Spark's parser with Flink's functions."""

    FUNCTIONS: ClassVar = {**SparkParser.FUNCTIONS, **_BUILT}
    NO_PAREN_FUNCTIONS: ClassVar = {
        **SparkParser.NO_PAREN_FUNCTIONS,
        TokenType.CURRENT_TIME: exp.CurrentTime,
        TokenType.LOCALTIME: exp.Localtime,
        TokenType.LOCALTIMESTAMP: exp.Localtimestamp,
    }
    FUNCTION_PARSERS: ClassVar = {
        **{name: read for name, read in SparkParser.FUNCTION_PARSERS.items() if name not in _BUILT},
        "JSON_ARRAY": lambda self: self._json_array(),
        "JSON_ARRAYAGG": lambda self: self._json_array_agg(),
        "JSON_EXISTS": lambda self: self._json_exists(),
        "JSON_OBJECT": lambda self: self._json_object(),
        "JSON_OBJECTAGG": lambda self: self._json_object_agg(),
        "JSON_QUERY": lambda self: self._json_query(),
        "JSON_VALUE": lambda self: self._json_value(),
    }

    def _parse_function_call(
        self,
        functions: dict[str, Any] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        refuse_missing(self._curr.text if self._curr and self._next.token_type == TokenType.L_PAREN else "")
        return super()._parse_function_call(functions, anonymous, optional_parens, any_token)

    def _argument(self, name: str) -> exp.Expr:
        found = self._parse_bitwise()
        if found is None:
            raise WrongCall(f"an argument of {name} is missing", f"{name} takes a JSON text and a path.")
        return found

    def _text_and_path(self, name: str) -> tuple[exp.Expr, JsonPath]:
        json = self._argument(name)
        if not self._match(TokenType.COMMA):
            raise WrongCall(f"{name} has no path", f"Write {name}(x, '$.field').")
        return json, path_of(name, self._argument(name))

    def _json_value(self) -> exp.Expr:
        json, path = self._text_and_path("JSON_VALUE")
        returning = self._parse_types() if self._match(TokenType.RETURNING) else None
        assert returning is None or isinstance(returning, exp.DataType)
        return json_read.json_value(json, path, returning, self._otherwise("NULL", "ERROR"))

    def _json_query(self) -> exp.Expr:
        json, path = self._text_and_path("JSON_QUERY")
        returning = self._parse_types() if self._match(TokenType.RETURNING) else None
        is_array = isinstance(returning, exp.DataType) and returning.this == exp.DataType.Type.ARRAY
        kind = returning.expressions[0] if is_array and returning is not None else returning
        if isinstance(kind, exp.DataType) and kind.this not in exp.DataType.TEXT_TYPES:
            raise WrongCall(
                "JSON_QUERY returns texts only", "Write RETURNING STRING or RETURNING ARRAY<STRING>."
            )
        wrapper = self._wrapper()
        otherwise = self._otherwise("NULL", "EMPTY ARRAY", "EMPTY OBJECT", "ERROR", is_array=is_array)
        return json_read.json_query(json, path, Query(otherwise, wrapper, is_array))

    def _wrapper(self) -> Literal["without", "conditional", "unconditional"]:
        found: Literal["without", "conditional", "unconditional"] = "without"
        if self._match_text_seq("WITH"):
            found = "conditional" if self._match_text_seq("CONDITIONAL") else "unconditional"
            self._match_text_seq("UNCONDITIONAL")
        elif not self._match_text_seq("WITHOUT"):
            return found
        self._match_text_seq("ARRAY")
        if not self._match_text_seq("WRAPPER"):
            raise WrongCall("WRAPPER is missing", "Write WITH CONDITIONAL ARRAY WRAPPER.")
        return found

    def _otherwise(self, *words: str, is_array: bool = False) -> Otherwise:
        found: dict[str, Instead] = {}
        while (clause := self._on(("EMPTY", "ERROR"), words)) is not None:
            when, instead = clause
            if is_array and instead == "EMPTY OBJECT":
                raise WrongCall("an array cannot be an EMPTY OBJECT", f"Write EMPTY ARRAY ON {when}.")
            found[when] = _meant(instead, is_array=is_array)
        return Otherwise(found.get("EMPTY"), found.get("ERROR"))

    def _on(self, whens: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, exp.Expr | str] | None:
        """One clause `word ON when`, or `DEFAULT value ON when`."""
        begin = self._index
        instead: exp.Expr | str | None = next((w for w in words if self._match_text_seq(*w.split())), None)
        if instead is None and self._match(TokenType.DEFAULT):
            instead = self._parse_bitwise()
        if instead is not None and self._match_text_seq("ON"):
            for when in whens:
                if self._match_text_seq(when):
                    return when, instead
        if self._index != begin:
            raise WrongCall("a clause behind the path cannot be read", _CLAUSES)
        return None

    def _json_exists(self) -> exp.Expr:
        json, path = self._text_and_path("JSON_EXISTS")
        clause = self._on(("ERROR",), ("TRUE", "FALSE", "UNKNOWN", "ERROR"))
        word = clause[1] if clause is not None else "FALSE"
        on_error = {"TRUE": exp.true(), "FALSE": exp.false(), "UNKNOWN": exp.Null()}.get(str(word), ERROR)
        return json_read.json_exists(json, path, on_error)

    def _absent(self, default: bool) -> bool:
        clause = self._on(("NULL",), ("NULL", "ABSENT"))
        return default if clause is None else clause[1] == "ABSENT"

    def _json_pair(self) -> tuple[exp.Expr, exp.Expr]:
        self._match_text_seq("KEY")
        key = self._parse_bitwise()
        if not self._match_text_seq("VALUE") and not self._match(TokenType.COLON):
            raise WrongCall("VALUE is missing", "Write 'name' VALUE x.")
        value = self._parse_disjunction()
        if key is None or value is None:
            raise WrongCall("a key or a value is missing", "Write 'name' VALUE x.")
        return key, value

    def _json_object(self) -> exp.Expr:
        pairs = []
        if self._curr and self._curr.token_type != TokenType.R_PAREN and not self._sees_on_null():
            pairs.append(self._json_pair())
            while self._match(TokenType.COMMA):
                pairs.append(self._json_pair())
        return json_write.json_object(pairs, absent=self._absent(False))

    def _sees_on_null(self) -> bool:
        following = self._next.text.upper() if self._next else ""
        return bool(self._curr and self._curr.text.upper() in ("NULL", "ABSENT") and following == "ON")

    def _json_array(self) -> exp.Expr:
        values: list[exp.Expr] = []
        while self._curr and self._curr.token_type != TokenType.R_PAREN and not self._sees_on_null():
            value = self._parse_disjunction()
            if value is None:
                raise WrongCall("an element of JSON_ARRAY is missing", "Write JSON_ARRAY(1, 'a').")
            values.append(value)
            if not self._match(TokenType.COMMA):
                break
        return json_write.json_array(values, absent=self._absent(True))

    def _json_object_agg(self) -> exp.Expr:
        key, value = self._json_pair()
        return json_write.json_object_agg(key, value, absent=self._absent(False))

    def _json_array_agg(self) -> exp.Expr:
        value = self._parse_disjunction()
        if value is None:
            raise WrongCall("JSON_ARRAYAGG has no argument", "Write JSON_ARRAYAGG(x).")
        return json_write.json_array_agg(value, absent=self._absent(True))


def _meant(instead: exp.Expr | str, *, is_array: bool) -> Instead:
    """What a clause says comes out instead."""
    match instead:
        case exp.Expr():
            return instead
        case "ERROR":
            return ERROR
        case "EMPTY ARRAY":
            return cast(call("array"), "ARRAY<STRING>") if is_array else text("[]")
        case "EMPTY OBJECT":
            return text("{}")
    return None


NAMES = (*BUILDERS, *(name for name in FunctionSyntax.FUNCTION_PARSERS if name.startswith("JSON_")))
"""The functions that are Flink's and not Spark's, for who looks for a name near to one that does not exist."""

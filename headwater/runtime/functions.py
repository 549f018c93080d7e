"""CREATE FUNCTION ... LANGUAGE PYTHON: a function of a Python module in SQL.

It is called with values, NULL as None, one row at a time; or, if its parameters are annotated as `pyarrow.Array`, with
whole columns. Either way it runs beside Spark on batches of Arrow. What it returns its annotation says, or RETURNS.
"""

from __future__ import annotations

import datetime
import decimal
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_type_hints

import pyarrow as pa
from sqlglot import exp, parse_one

from headwater.errors import SqlError, placed
from headwater.nearest import nearest_hint
from headwater.runtime.program import Function
from headwater.runtime.scope import Scope
from headwater.schema import arrow_type
from headwater.sql import statements as sql
from headwater.sql.calls import ANONYMOUS_AGGREGATES
from headwater.sql.dialect import HeadwaterParser
from headwater.sql.history_calls import FORMS as HISTORIES
from headwater.sql.script import parse_script
from headwater.sql.volatile import CLOCK_NAMES, OTHER_NAMES, Where
from headwater.sql.windowing import FORMS as WINDOWING

Python = Callable[..., Any]

REGISTERED: dict[str, Python] = {}
"""Functions that a program gave by hand, by the path under which SQL names them."""

_TYPES: dict[object, str] = {
    bool: "boolean",
    int: "bigint",
    float: "double",
    str: "string",
    bytes: "binary",
    datetime.date: "date",
    datetime.datetime: "timestamp_ntz",
    decimal.Decimal: "decimal(38,18)",
}
"""What Python's types are in SQL."""

_TAKEN = ANONYMOUS_AGGREGATES | CLOCK_NAMES | OTHER_NAMES
_TAKEN |= {name.lower() for name in (*HeadwaterParser.FUNCTIONS, *HISTORIES, *WINDOWING)}
"""Names of which SQL may read a call as that of any function, and then means its own."""


def create_function(scope: Scope, statement: sql.CreateFunction) -> None:
    """Find the function and make it known to Spark."""
    name = statement.name.lower()
    if name in scope.functions and statement.if_not_exists:
        return
    if name in scope.functions and not statement.or_replace:
        raise SqlError(
            f'function "{statement.name}" exists already',
            hint="Use CREATE OR REPLACE FUNCTION, or DROP FUNCTION first.",
            place=statement.place,
        )
    _refuse_name(scope, statement)
    function = _found(statement)
    if _takes_nothing(function):
        raise SqlError(
            f"'{statement.path}' takes no argument",
            hint="Only functions of columns can be called; write the value itself.",
            place=statement.place,
        )
    returns = statement.returns or _returned(function, statement)
    source = hashlib.sha256(_source(function, statement.path).encode()).hexdigest()
    with placed(statement.place):
        scope.engine.add_function(statement.name, _on_columns(function, arrow_type(returns)), returns)
    scope.functions[name] = Function(name, statement.path, returns, statement.deterministic, source)


def drop_function(scope: Scope, statement: sql.Drop) -> None:
    """Take a function back."""
    _refuse_used(scope, statement)
    if scope.functions.pop(statement.name.lower(), None) is None and not statement.if_exists:
        raise SqlError(
            f'function "{statement.name}" does not exist',
            hint=nearest_hint(statement.name, list(scope.functions), "functions"),
            place=statement.place,
        )


def _refuse_name(scope: Scope, statement: sql.CreateFunction) -> None:
    """Raise if a name means something else already, to SQL or to views that stand on it."""
    if statement.name.lower() in _TAKEN or not _is_free(statement.name):
        raise SqlError(
            f'"{statement.name}" has a meaning in SQL already',
            hint="Choose another name.",
            place=statement.place,
        )
    _refuse_used(scope, statement)


def _is_free(name: str) -> bool:
    """True if SQL reads a call of this name as that of a function it does not know."""
    call = exp.Anonymous(this=exp.to_identifier(name), expressions=[exp.column("x")])
    try:
        (said,) = parse_script(exp.select(call).from_("t").sql(dialect="spark", normalize_functions=False))
    except SqlError:
        return False
    read = said.query.selects[0] if isinstance(said, sql.Select) else None
    return isinstance(read, exp.Anonymous) and read.name.lower() == name.lower()


def _refuse_used(scope: Scope, statement: sql.CreateFunction | sql.Drop) -> None:
    """One name is one function: a view that calls it would go on with another one."""
    for result in scope.results.values():
        calls = parse_one(result.query_text, dialect="spark").find_all(exp.Anonymous)
        if any(call.name.lower() == statement.name.lower() for call in calls):
            raise SqlError(
                f'function "{statement.name}" is used by "{result.name}"',
                hint="Drop what uses it first, or choose another name.",
                place=statement.place,
            )


def used_functions(scope: Scope, query: exp.Expr) -> list[Function]:
    """The Python functions that a query calls."""
    names = dict.fromkeys(call.name.lower() for call in query.find_all(exp.Anonymous))
    return [scope.functions[name] for name in names if name in scope.functions]


def refuse_open_functions(scope: Scope, query: exp.Query, where: Where) -> None:
    """Raise if a query calls a function that does not promise the same answer each time."""
    for call in query.find_all(exp.Anonymous):
        function = scope.functions.get(call.name.lower())
        if function is not None and not function.is_deterministic:
            raise SqlError(
                f"{function.name} may give another answer each time, so no maintained result could stay true",
                hint="If equal arguments always give an equal answer, say so: CREATE FUNCTION ... DETERMINISTIC.",
                place=where(call),
            )


def _found(statement: sql.CreateFunction) -> Python:
    """The function at a path: of the program itself, of a package, or of a module in the current folder."""
    if statement.path in REGISTERED:
        return REGISTERED[statement.path]
    # Behind a # stands the name under which a program registered it.
    module, _, attribute = statement.path.partition("#")[0].rpartition(".")
    if not module:
        raise SqlError(
            f"'{statement.path}' names no module", hint="Write AS 'module.function'.", place=statement.place
        )
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ImportError as problem:
        raise SqlError(
            f"module '{module}' cannot be imported",
            detail=f"{problem}.",
            hint="Install it beside Headwater, or start where the module lies.",
            place=statement.place,
        ) from problem
    except AttributeError:
        raise SqlError(
            f"module '{module}' has no function '{attribute}'",
            hint=nearest_hint(attribute, _public(sys.modules[module]), "functions"),
            place=statement.place,
        ) from None
    if not callable(found):
        raise SqlError(
            f"'{statement.path}' is no function",
            hint="Write AS 'module.function'.",
            place=statement.place,
        )
    return found  # type: ignore[no-any-return]


def _public(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _returned(function: Python, statement: sql.CreateFunction) -> str:
    try:
        said = get_type_hints(function).get("return")
    except (TypeError, NameError):
        said = None
    plain = [part for part in getattr(said, "__args__", (said,)) if part is not type(None)]
    found = _TYPES.get(plain[0]) if len(plain) == 1 else None
    if found is None:
        raise SqlError(
            f"what '{statement.path}' returns is not known",
            detail=f"Its annotation is {said}." if said is not None else "It has no annotation.",
            hint="Say it: CREATE FUNCTION ... LANGUAGE PYTHON RETURNS BIGINT, or annotate the function.",
            place=statement.place,
        )
    return found


def _on_columns(function: Python, kind: pa.DataType) -> Python:
    """The function on whole columns of Arrow."""
    if _takes_columns(function):
        return function

    def on_columns(*columns: pa.Array) -> pa.Array:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([function(*row) for row in rows], kind)

    # It goes to Spark's workers as what is of the user's module does.
    on_columns.__module__ = _module_of(function)
    return on_columns


def _module_of(function: Python) -> str:
    """The module of a function; some written in C do not tell."""
    return getattr(function, "__module__", None) or ""


def _takes_nothing(function: Python) -> bool:
    try:
        return not inspect.signature(function).parameters
    except ValueError:
        # Some functions written in C do not tell.
        return False


def _takes_columns(function: Python) -> bool:
    try:
        hints = get_type_hints(function)
    except (TypeError, NameError):
        return False
    given = [kind for name, kind in hints.items() if name != "return"]
    return bool(given) and all(isinstance(kind, type) and issubclass(kind, pa.Array) for kind in given)


def _source(function: Python, path: str) -> str:
    """What a function was made from: if it is edited, its views are computed anew.

    That is its own text, and all of its module: a helper or a constant that it uses may stand anywhere there. What a
    decorator made may say that it is of the decorator's module, so the one that the path names counts too.
    """
    named = path.partition("#")[0].rpartition(".")[0]
    modules = [sys.modules.get(name) for name in dict.fromkeys([named, _module_of(function)])]
    texts = [_text(module) for module in modules if module is not None and not _is_pythons(module)]
    own = _text(function) or repr(getattr(function, "__qualname__", function))
    return "\x00".join([own, *filter(None, texts)])


def _text(what: Python | ModuleType) -> str:
    """The text from which something was made; empty if there is none, as of a module that is a notebook."""
    try:
        return inspect.getsource(what)
    except (OSError, TypeError):
        return ""


def _is_pythons(module: ModuleType) -> bool:
    """True for the standard library, of which another release is no edit."""
    return module.__name__.partition(".")[0] in sys.stdlib_module_names

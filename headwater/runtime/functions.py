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

from headwater.errors import SqlError
from headwater.nearest import nearest_hint
from headwater.runtime.program import Function
from headwater.runtime.scope import Scope
from headwater.schema import arrow_type
from headwater.sql import statements as sql
from headwater.sql.calls import ANONYMOUS_AGGREGATES
from headwater.sql.volatile import Where

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
    source = hashlib.sha256(_source(function).encode()).hexdigest()
    scope.functions[name] = Function(name, statement.path, returns, statement.deterministic, source)
    scope.engine.add_function(name, _on_columns(function, arrow_type(returns)), returns)


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
    if statement.name.upper() in exp.FUNCTION_BY_NAME or statement.name.lower() in ANONYMOUS_AGGREGATES:
        raise SqlError(
            f"{statement.name} is a function of SQL", hint="Choose another name.", place=statement.place
        )
    _refuse_used(scope, statement)


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

    return on_columns


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


def _source(function: Python) -> str:
    """The text of a function: if it is edited, its views are computed anew."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(getattr(function, "__qualname__", function))

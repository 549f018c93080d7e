"""Functions of Python in Spark SQL, called with columns of Arrow."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

from headwater.errors import SqlError
from headwater.schema import sql_type

_INSTALLED = [Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
"""Where a worker, which runs the same Python, finds what this process finds."""

_UNSENDABLE = (PicklingError, TypeError, AttributeError, ValueError, NotImplementedError, RecursionError)
"""What is raised by values that no other process can have: locks, connections, what is written in C."""


def add_function(spark: SparkSession, name: str, function: Callable[..., Any], kind: str) -> None:
    """Let SQL of a session call a function that takes Arrow arrays and gives one, unless Spark has one of the name."""
    if _is_built_in(spark, name):
        raise SqlError(f'"{name}" has a meaning in SQL already', hint="Choose another name.")
    with _by_value(_users_module(function)):
        spark.udf.register(name, arrow_udf(function, sql_type(kind)))


def _is_built_in(spark: SparkSession, name: str) -> bool:
    java: Any = spark._jvm
    called = java.org.apache.spark.sql.catalyst.FunctionIdentifier(name.lower())
    return bool(spark._jsparkSession.sessionState().catalog().isBuiltinFunction(called))


def _users_module(function: Callable[..., Any]) -> ModuleType | None:
    """The module of which the function is to be written out whole, not as the name of something to import.

    A worker may not find the user's module where this process found it, and one that has imported it goes on with what
    it has when it is edited and loaded again. What cannot be written out, and what is installed, it has to import.
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    # What a program itself says, or a notebook, is written out anyway.
    if module is None or module.__name__ == "__main__" or _is_installed(module):
        return None
    try:
        with _by_value(module):
            cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    except _UNSENDABLE:
        return None
    return module


@contextmanager
def _by_value(module: ModuleType | None) -> Iterator[None]:
    """While it lasts, what is of a module is written out whole; what the program sends later goes its usual way."""
    known = cloudpickle.list_registry_pickle_by_value()  # type: ignore[no-untyped-call]
    if module is None or module.__name__ in known:
        yield
        return
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _is_installed(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and any(folder in Path(file).parents for folder in _INSTALLED)

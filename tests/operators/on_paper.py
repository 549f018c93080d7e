"""EXPLAIN without Spark, for the examples of the docs: sqlglot tells the types.

It is right for whole numbers and texts, which is all the examples use; that it agrees with Spark is a test of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession
from sqlglot import exp, parse_one
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from headwater.runtime.answers import explain
from headwater.runtime.compile import compile_script
from headwater.runtime.program import Program
from headwater.schema import Schema
from headwater.spark.engine import Engine
from headwater.spark.text import to_text
from headwater.sql.script import parse_script


class PaperEngine(Engine):
    """Tells types and runs nothing."""

    def add_function(self, name: str, function: Callable[..., Any], kind: str) -> None:
        """Nothing is called."""

    def analyse(self, schemas: Mapping[str, Schema], query: exp.Query) -> dict[str, str]:
        """The types of a query's columns."""
        known: dict[str, object] = {
            name: {column.name: column.type for column in schema} for name, schema in schemas.items()
        }
        # Names may be qualified again only in a tree that has not been touched yet: hence by way of the text.
        read = parse_one(to_text(query), dialect="spark")
        # Spark lets ORDER BY name what the columns of a derived table are renamed from; sqlglot does not.
        whole = qualify(read, schema=known, dialect="spark", validate_qualify_columns=False)
        typed = annotate_types(whole, schema=known, dialect="spark")
        assert isinstance(typed, exp.Query)
        types = {item.alias_or_name: item.type for item in typed.selects}
        return {name: _written(kind) for name, kind in types.items() if kind is not None}


def _written(kind: exp.DataType) -> str:
    """A type as Spark prints it; a function that sqlglot does not know gives text in the examples."""
    return "string" if kind.this == exp.DataType.Type.UNKNOWN else kind.sql(dialect="spark").lower()


def compile_on_paper(script: str) -> Program:
    """The program of a script."""
    engine = PaperEngine(cast(SparkSession, None), Path("nowhere"))
    return compile_script(parse_script(script), engine)


def explain_on_paper(script: str) -> str:
    """What `headwater explain` says of a script's results."""
    program = compile_on_paper(script)
    return "\n\n".join(explain(result, program.views, program.tables) for result in program.results.values())


def first_part(explained: str, view: str) -> str:
    """Of what EXPLAIN says, the part about a view when the first relation it reads changes."""
    parts = explained.split("\n\n")
    return next(part for part in parts if part.startswith(f"-- {view}: "))

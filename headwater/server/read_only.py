"""A query of a reader, made safe: its names stand for relations of pipelines that run, and it does nothing but read.

SELECT total FROM shop.totals   ->   SELECT total FROM hw_read_7_0 AS totals
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.scope import traverse_scope

from headwater.errors import SqlError
from headwater.nearest import nearest_hint

_REACHING = frozenset(
    [
        "reflect",
        "try_reflect",
        "java_method",
        "input_file_name",
        "input_file_block_start",
        "input_file_block_length",
        "identifier",
    ]
)
"""Functions of Spark that call Java, or tell of files."""

_TABLES_OF_VALUES = frozenset(
    [
        "explode",
        "explode_outer",
        "inline",
        "inline_outer",
        "json_tuple",
        "posexplode",
        "posexplode_outer",
        "range",
        "stack",
    ]
)
"""Functions that make rows of values, and read nothing."""

_DOING = (exp.Command, exp.DDL, exp.DML, exp.QueryTransform, exp.Into, exp.Set, exp.Use, exp.Pragma)
_OPEN = (exp.Placeholder, exp.Parameter, exp.SessionParameter)


class Named(Protocol):
    """Something that is called by a name, and by a longer one that nobody else has."""

    @property
    def name(self) -> str:
        """What it is called in its pipeline."""

    @property
    def full_name(self) -> str:
        """What it is called beside those of other pipelines."""


One = TypeVar("One", bound=Named)


class Ambiguous(SqlError):
    """A name that several relations have."""

    def __init__(self, name: str, choices: Sequence[str]) -> None:
        super().__init__(
            f'"{name}" is a relation of more than one pipeline',
            detail=f"There are {', '.join(choices)}.",
            hint=f"Write {choices[0]}.",
        )
        self.choices = tuple(choices)


class Unknown(SqlError):
    """A name that no relation has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(
            f'relation "{name}" does not exist', hint=nearest_hint(name, known, "tables and views")
        )


class Names(Generic[One]):
    """The relations by what they are called: `pipeline.relation`, or `relation` if only one has that name."""

    def __init__(self, relations: Sequence[One]) -> None:
        self._relations = relations

    def find(self, name: str) -> One:
        """The relation of a name; case does not matter."""
        wanted = name.lower()
        found = [one for one in self._relations if one.full_name.lower() == wanted]
        found = found or [one for one in self._relations if one.name.lower() == wanted]
        if len(found) > 1:
            raise Ambiguous(name, [one.full_name for one in found])
        if not found:
            known = [one.full_name if "." in name else one.name for one in self._relations]
            raise Unknown(name, known)
        return found[0]


@dataclass(frozen=True)
class ReadOnly(Generic[One]):
    """A query over private names, and the relations they stand for."""

    query: exp.Query
    views: Mapping[str, One]


def read_only(query: exp.Query, names: Names[One], prefix: str) -> ReadOnly[One]:
    """The query with private names in the place of relations; whatever does more than read them is an error."""
    own = query.copy()
    _refuse(own)
    views: dict[str, One] = {}
    called: dict[str, str] = {}
    for table in _tables(own):
        relation = names.find(".".join(part.name for part in table.parts))
        private = called.setdefault(relation.full_name, f"{prefix}_{len(called)}")
        views[private] = relation
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name, quoted=True))
        if not alias.this:
            alias.set("this", exp.to_identifier(table.name, quoted=True))
        table.set("alias", alias)
        for part in ("db", "catalog"):
            table.set(part, None)
        table.set("this", exp.to_identifier(private))
    return ReadOnly(own, views)


def _refuse(query: exp.Query) -> None:
    """Raise if a query is more than a query."""
    if not isinstance(query, exp.Query):
        raise SqlError("only queries can be asked here", hint="Begin with SELECT, WITH or VALUES.")
    if (doing := query.find(*_DOING)) is not None:
        raise SqlError(
            "a query that is asked here only reads",
            detail=f"It has {doing.key.upper()} in it.",
            hint="Leave it out.",
        )
    if query.find(*_OPEN) is not None:
        raise SqlError("the query has a parameter without a value", hint="Write the value itself.")
    for call in query.find_all(exp.Func):
        name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
        if name in _REACHING:
            raise SqlError(
                f"function {name} cannot be called here", hint="It reaches beyond tables and views."
            )


def _tables(query: exp.Query) -> list[exp.Table]:
    """The relations that a query names, without those that it makes itself by WITH."""
    try:
        scopes = traverse_scope(query)
    except OptimizeError as problem:
        raise SqlError("the query cannot be read", detail=f"{problem}.") from None
    found: dict[int, exp.Table] = {}
    made: set[int] = set()
    for scope in scopes:
        for table in scope.tables:
            own = not table.db and table.name.lower() in {name.lower() for name in scope.cte_sources}
            made.update({id(table)} if own else ())
            found.update({} if own else {id(table): table})
    for table in query.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and id(table) in found | dict.fromkeys(made):
            continue
        call = table.this
        name = call.name if isinstance(call, exp.Anonymous) else call.sql_name() if _is_call(call) else ""
        if name.lower() not in _TABLES_OF_VALUES:
            raise SqlError(
                f"{name or table.sql(dialect='spark')} cannot be read here",
                hint="Read tables and views by their names.",
            )
        found.pop(id(table), None)
    return [table for key, table in found.items() if key not in made]


def _is_call(node: object) -> bool:
    return isinstance(node, exp.Func)

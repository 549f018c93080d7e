"""What a client's statement is: one for the Postgres behind, or one that asks for rows of relations.

A statement in which no name of a relation stands goes behind as it is. One in which a name stands is read: it is a
query over relations, a cursor over one, a query of the catalog in which the name is only a text, or it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.dialects import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from headwater.server.postgres.kinds import (
    BEHIND,
    Close,
    Declare,
    Fetch,
    Prepare,
    Query,
    Run,
    Statement,
)
from headwater.server.postgres.messages import Refusal
from headwater.server.postgres.reading import Relation

HINT = "Views are read here; change the source."

_IDENTIFIER = r'(?P<name>"(?:[^"]|"")+"|[\w$]+)'
_DECLARE = re.compile(
    rf"declare\s+{_IDENTIFIER}(?P<binary>\s+binary)?(\s+(a|in)sensitive)?(\s+(no\s+)?scroll)?\s+cursor"
    r"(?P<hold>\s+with\s+hold|\s+without\s+hold)?\s+for\s+(?P<query>.*)",
    re.IGNORECASE | re.DOTALL,
)
_PREPARE = re.compile(
    rf"prepare\s+{_IDENTIFIER}\s*(\([^)]*\))?\s+as\s+(?P<query>.*)", re.IGNORECASE | re.DOTALL
)
_EXECUTE = re.compile(rf"execute\s+{_IDENTIFIER}\s*(\((?P<given>.*)\))?\s*;?\s*", re.IGNORECASE | re.DOTALL)
_FETCH = re.compile(
    rf"fetch\s+((forward\s+)?(?P<count>\d+|all|next)\s+|forward\s+)?((from|in)\s+)?{_IDENTIFIER}\s*;?\s*",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"(?P<what>close|deallocate(\s+prepare)?)\s+{_IDENTIFIER}\s*;?\s*", re.IGNORECASE | re.DOTALL
)
_COMMENTS = re.compile(r"(\s|--[^\n]*(\n|$)|/\*.*?\*/)*", re.DOTALL)
_QUERY = re.compile(r"(select|with|values|table)\b|\(", re.IGNORECASE)


@dataclass(frozen=True)
class Scene:
    """What names mean when a statement is read."""

    relations: Sequence[Relation] = ()
    path: Sequence[str] = ()
    """The schemas in which a bare name is looked for, in order."""
    cursors: Collection[str] = ()
    """Those over relations."""
    prepared: Collection[str] = ()
    _by_name: Mapping[tuple[str, str], Relation] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {(one.pipeline, one.name): one for one in self.relations})

    @property
    def made(self) -> frozenset[str]:
        """The cursors and prepared statements over relations."""
        return frozenset((*self.cursors, *self.prepared))

    def is_named(self, text: str) -> bool:
        """True if the text could mean a relation, or what a statement made of one."""
        lowered = text.lower()
        names = {relation.name for relation in self.relations} | self.made
        # A name can also be written in escapes, which nobody does.
        return 'u&"' in lowered or any(name.lower() in lowered for name in names)

    def find(self, schema: str, name: str) -> Relation | None:
        """The relation that a name means; one without a schema is looked for along the path."""
        if not schema and name.startswith("pg_"):
            return None
        places = [schema] if schema else self.path
        found = (self._by_name.get((place, name)) for place in places)
        return next((relation for relation in found if relation is not None), None)


def split(text: str) -> list[str]:
    """The statements of a text, each where it stands: what comes before it is blank, so that places stay right.

    >>> split("BEGIN; SELECT 1")
    ['BEGIN', '       SELECT 1']
    """
    try:
        tokens = Postgres().tokenize(text)
    except SqlglotError:
        return [text]
    ends = [token.start for token in tokens if token.token_type is TokenType.SEMICOLON]
    parts, start = [], 0
    for end in [*ends, len(text)]:
        if _COMMENTS.sub("", text[start:end], count=1).strip():
            parts.append(re.sub(r"[^\n]", " ", text[:start]) + text[start:end])
        start = end + 1
    return parts


def read(text: str, scene: Scene) -> Statement:
    """What a statement is."""
    if not (scene.is_named(text) and split(text)):
        return BEHIND
    begun = text[_COMMENTS.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text too
    if _QUERY.match(begun):
        return _query(begun, scene) or BEHIND
    if match := _DECLARE.fullmatch(begun):
        return _declare(match, scene)
    if (match := _FETCH.fullmatch(begun)) and _name(match) in scene.cursors:
        count = (match["count"] or "1").lower()
        return Fetch(_name(match), {"all": None, "next": 1}[count] if not count.isdigit() else int(count))
    if match := _PREPARE.fullmatch(begun):
        query = _query(match["query"], scene)
        return Prepare(_name(match), query) if query else BEHIND
    if (match := _EXECUTE.fullmatch(begun)) and _name(match) in scene.prepared:
        return Run(_name(match), _given(match["given"]))
    if match := _CLOSE.fullmatch(begun):
        return Close(_name(match), match["what"].lower() == "close")
    return _other(begun, scene)


def _declare(match: re.Match[str], scene: Scene) -> Statement:
    query = _query(match["query"], scene)
    if query is None:
        return BEHIND
    if match["binary"]:
        raise Refusal("0A000", "a cursor cannot be BINARY here")
    return Declare(_name(match), query, bool(match["hold"]) and "without" not in match["hold"].lower())


def _other(text: str, scene: Scene) -> Statement:
    """A statement that is no query, in which a name of a relation stands."""
    word = re.match(r"\w*", text)[0].upper()  # type: ignore[index]  # it matches the empty text too
    if word in _SESSION:
        return BEHIND
    if (match := _FETCH.fullmatch(text) or _EXECUTE.fullmatch(text)) and _name(match) not in scene.made:
        return BEHIND
    if word in _READING:
        raise Refusal("0A000", f"{word} is not supported here in this form", hint="Write a SELECT.")
    raise Refusal("25006", f"cannot execute {word} in a read-only transaction", hint=HINT)


_SESSION = frozenset(
    "SET SHOW RESET BEGIN START COMMIT END ROLLBACK ABORT SAVEPOINT RELEASE CLOSE DEALLOCATE DISCARD".split()  # noqa: SIM905  # words
)
_READING = frozenset(
    ["EXPLAIN", "COPY", "ANALYZE", "VACUUM", "DECLARE", "FETCH", "MOVE", "PREPARE", "EXECUTE"]
)


def _query(text: str, scene: Scene) -> Query | None:
    """A query over relations; None if all that it reads is in the catalog."""
    tree = _tree(text)
    if tree.find(exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Lock) is not None:
        raise Refusal("25006", "only what reads can be executed here", hint=HINT)
    found: dict[int, Relation] = {}
    others = []
    for table in _tables(tree):
        relation = scene.find(_folded(table.args.get("db")), _folded(table.this))
        if relation is None:
            others.append(table)
        else:
            found[id(table)] = relation
            _rename(table, relation)
    if not found:
        return None
    if others:
        raise Refusal(
            "0A000",
            "relations and the catalog cannot be read in one query",
            detail=f"{others[0].sql('postgres')} is not a view or table of a pipeline.",
            hint="Ask for each of them in a query of its own.",
        )
    return Query(tree, tuple(found.values()))


def _tree(text: str) -> exp.Query:
    try:
        found = sqlglot.parse(text, read="postgres")
    except (SqlglotError, RecursionError) as problem:
        raise Refusal(
            "0A000",
            "this query is not understood here",
            detail=re.sub(r"\x1b\[\d+m", "", str(problem)).strip(),
            hint="Write it in plainer SQL.",
        ) from None
    trees = [tree for tree in found if tree is not None]
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise Refusal("0A000", "this query is not understood here", hint="Write it as one SELECT.")
    return trees[0]


def _given(text: str | None) -> tuple[exp.Expression, ...]:
    if not text:
        return ()
    return tuple(one for one in _tree(f"SELECT {text}").selects if isinstance(one, exp.Expression))


def _rename(table: exp.Table, relation: Relation) -> None:
    """Call a relation by its full name, and in the query by what it was called."""
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(relation.name, quoted=True)))
    table.set("this", exp.to_identifier(relation.name, quoted=True))
    table.set("db", exp.to_identifier(relation.pipeline, quoted=True))
    table.set("catalog", None)


def _tables(tree: exp.Query) -> Iterator[exp.Table]:
    """The tables of a query that are named, and are none of its WITH clauses."""
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, exp.Identifier) and not (not table.args.get("db") and _is_cte(table)):
            yield table


def _is_cte(table: exp.Table) -> bool:
    """True if a bare name means a WITH clause around it: one sees those before it, all of them if it is recursive."""
    name = _folded(table.this)
    child: exp.Expr = table
    while (parent := child.parent) is not None:
        known: Sequence[exp.Expr] = ()
        if isinstance(parent, exp.With):
            known = parent.expressions
            known = known if parent.recursive else known[: parent.expressions.index(child)]
            assert parent.parent is not None
            parent = parent.parent
        elif isinstance(parent, exp.Query):
            known = parent.ctes
        if any(_folded(cte.args["alias"].this) == name for cte in known):
            return True
        child = parent
    return False


def _folded(identifier: object) -> str:
    """A name as Postgres reads it: small letters, unless it is quoted."""
    if not isinstance(identifier, exp.Identifier):
        return ""
    return identifier.name if identifier.quoted else identifier.name.lower()


def _name(match: re.Match[str]) -> str:
    name = match["name"]
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()

"""What the scripts of one session have declared so far, and what of it the next one needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.errors import SqlError
from headwater.nearest import nearest_hint
from headwater.runtime.uses import Named, uses
from headwater.sql import statements as sql
from headwater.sql.script import parse_script

Declaration = Named | sql.CreateFunction | sql.Use | sql.Set
Running = sql.Select | sql.InsertInto | sql.StatementSet

KINDS: dict[type[Named], str] = {
    sql.CreateTable: "table",
    sql.CreateView: "view",
    sql.CreateCatalog: "catalog",
}

NAME = "pipeline.name"
"""The setting that is of one script and not of the session: two pipelines of one name are one."""


@dataclass(frozen=True)
class Script:
    """One script of a session: what it says, after the earlier declarations that it needs."""

    statements: tuple[sql.Statement, ...]
    declared: tuple[Declaration, ...]
    """All declarations of the session, those of this script among them."""
    own: tuple[sql.Statement, ...]
    """What is not declared but done: queries, INSERTs, questions."""

    @property
    def runs(self) -> bool:
        """True if there is something to follow."""
        return any(isinstance(statement, Running) for statement in self.own)

    @property
    def writes(self) -> bool:
        """True if it changes something outside."""
        return any(isinstance(statement, sql.InsertInto | sql.StatementSet) for statement in self.own)

    @property
    def name(self) -> str | None:
        """The name that the script gives its pipeline."""
        named = [s.value for s in self.own if isinstance(s, sql.Set) and s.key == NAME]
        return named[-1] if named else None

    @property
    def targets(self) -> list[str]:
        """The tables that it writes to."""
        return [
            one.target.rpartition(".")[2]
            for s in self.own
            for one in (s.statements if isinstance(s, sql.StatementSet) else (s,))
            if isinstance(one, sql.InsertInto)
        ]

    @property
    def summary(self) -> str:
        """What it does, in a few words: `SELECT, INSERT INTO fact_orders, dim_customers`."""
        inserts = self.targets
        selects = sum(isinstance(s, sql.Select) for s in self.own)
        said = [f"{selects} SELECT" if selects > 1 else "SELECT"] if selects else []
        return ", ".join(said + ([f"INSERT INTO {', '.join(inserts)}"] if inserts else []))

    @property
    def text(self) -> str:
        """A text that says the same."""
        return "".join(f"{statement.text};\n" for statement in self.statements)


@dataclass
class Declarations:
    """Grows script by script; a name that is declared again means the new thing from then on."""

    kept: tuple[Declaration, ...] = ()

    def read(self, text: str, file: str) -> Script:
        """Read a script in the light of what was declared before; nothing is kept yet."""
        script = parse_script(text, file)
        declared = list(self.kept)
        fresh: list[Declaration] = []
        own: list[sql.Statement] = []
        for statement in script:
            match statement:
                case sql.Drop(kind="function"):
                    declared = _without_function(declared, statement)
                case sql.CreateFunction():
                    _declare_function(declared, statement)
                case sql.Drop():
                    declared = _without(declared, statement)
                case sql.CreateTable() | sql.CreateView() | sql.CreateCatalog():
                    _declare(declared, statement, fresh)
                    fresh.append(statement)
                case sql.Use():
                    declared.append(statement)
                    fresh.append(statement)
                case sql.Set(key=str(), value=str()) if statement.key != NAME:
                    declared = [s for s in declared if not _sets(s, statement.key)] + [statement]
                case sql.Reset():
                    declared = [s for s in declared if not _sets(s, statement.key or getattr(s, "key", None))]
                    own += [statement] if statement.key in (NAME, None) else []
                case _:
                    own.append(statement)
        wanted = _needed(declared, [*fresh, *own])
        return Script((*wanted, *own), tuple(declared), tuple(own))

    def keep(self, script: Script) -> None:
        """From now on, what the script declared is there for the next."""
        self.kept = script.declared

    def catalog(self, name: str) -> sql.CreateCatalog:
        """The catalog of that name, or an error that names the nearest."""
        known = {s.name: s for s in self.kept if isinstance(s, sql.CreateCatalog)}
        found = next((s for n, s in known.items() if n.lower() == name.lower()), None)
        if found is None:
            raise SqlError(
                f'there is no catalog "{name}"',
                hint=nearest_hint(name, list(known), "catalogs")
                if known
                else "Declare it: CREATE CATALOG name WITH ('type' = 'jdbc', 'base-url' = ..., ...).",
            )
        return found


def _declare(declared: list[Declaration], statement: Named, fresh: Sequence[Declaration]) -> None:
    """Put a declaration in the place of the former one, or behind what it reads; its readers follow it."""
    at = next((i for i, s in enumerate(declared) if _is_same(s, statement)), None)
    skips = getattr(statement, "if_not_exists", False)
    if at is not None and skips:
        return
    is_replaced = at is not None and (
        declared[at] not in fresh or (isinstance(statement, sql.CreateView) and statement.or_replace)
    )
    if at is None or not is_replaced:
        declared.append(statement)
        return
    declared[at] = statement
    behind = [s for s in declared[at + 1 :] if isinstance(s, Named)]
    if any(uses(statement, other) for other in behind):
        moved: list[Declaration] = [statement, *_readers(statement, behind)]
        declared[:] = [s for s in declared if not any(s is one for one in moved)] + moved


def _declare_function(declared: list[Declaration], statement: sql.CreateFunction) -> None:
    """Put a function in the place of the former one of its name, else at the end."""
    places = [i for i, s in enumerate(declared) if _is_function(s, statement.name)]
    if not places:
        declared.append(statement)
    elif not statement.if_not_exists:
        declared[places[0]] = statement


def _without_function(declared: list[Declaration], drop: sql.Drop) -> list[Declaration]:
    kept = [s for s in declared if not _is_function(s, drop.name)]
    if len(kept) == len(declared) and not drop.if_exists:
        known = [s.name for s in declared if isinstance(s, sql.CreateFunction)]
        raise SqlError(
            f'there is no function "{drop.name}"',
            hint=nearest_hint(drop.name, known, "functions"),
            place=drop.place,
        )
    return kept


def _is_function(statement: Declaration, name: str) -> bool:
    return isinstance(statement, sql.CreateFunction) and statement.name.lower() == name.lower()


def _readers(statement: Named, behind: Sequence[Named]) -> list[Named]:
    """What stands on a declaration, and on that in turn; a circle is an error."""
    found: list[Named] = []
    for other in behind:
        if any(uses(other, one) for one in (statement, *found)):
            found.append(other)
            if uses(statement, other):
                raise SqlError(
                    f'"{statement.name}" would read itself',
                    detail=f'It reads "{other.name}", which reads "{statement.name}".',
                    hint=f'Declare "{other.name}" without it first.',
                    place=statement.place,
                )
    return found


def _is_same(one: Declaration, other: Named) -> bool:
    """True if two declarations cannot stand side by side."""
    if not isinstance(one, Named):
        return False
    is_catalog = isinstance(one, sql.CreateCatalog), isinstance(other, sql.CreateCatalog)
    return is_catalog[0] == is_catalog[1] and one.name.lower() == other.name.lower()


def _sets(statement: Declaration, key: str | None) -> bool:
    return isinstance(statement, sql.Set) and statement.key == key


def _without(declared: list[Declaration], drop: sql.Drop) -> list[Declaration]:
    of_kind = [s for s in declared if isinstance(s, Named) and KINDS[type(s)] == drop.kind]
    gone = [s for s in of_kind if s.name.lower() == drop.name.lower()]
    if not gone:
        if drop.if_exists:
            return declared
        raise SqlError(
            f'there is no {drop.kind} "{drop.name}"',
            hint=nearest_hint(drop.name, [s.name for s in of_kind], f"{drop.kind}s"),
            place=drop.place,
        )
    users = [
        s.name for s in declared if s not in gone and isinstance(s, Named) and any(uses(s, g) for g in gone)
    ]
    if users:
        raise SqlError(
            f'"{drop.name}" is still used by "{users[0]}"',
            hint="Drop what uses it first.",
            place=drop.place,
        )
    return [s for s in declared if s not in gone]


def _needed(declared: Iterable[Declaration], roots: Sequence[sql.Statement]) -> list[Declaration]:
    """The declarations that some statements stand on, in order; a few more do no harm."""
    everything = any(isinstance(statement, sql.Show) for statement in roots)
    wanted: list[Declaration] = []
    readers = list(roots)
    for statement in reversed(list(declared)):
        is_root = any(statement is root for root in roots)
        if (
            everything
            or is_root
            or not isinstance(statement, Named)
            or any(uses(reader, statement) for reader in readers)
        ):
            wanted.insert(0, statement)
            readers.append(statement)
    return wanted

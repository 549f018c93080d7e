"""What a script keeps of a folder, and what of it is computed anew: by what each relation was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.errors import placed
from headwater.incremental.change_plan import sums_relation
from headwater.runtime.facts import Listener
from headwater.runtime.program import Program, fingerprints
from headwater.runtime.progress import FILE, Progress
from headwater.runtime.remembered import remembered_in
from headwater.schema import Schema
from headwater.sources.base import Report
from headwater.sql import statements as sql
from headwater.sql.script import parse_script
from headwater.tables.state import State


@dataclass(frozen=True)
class Comparison:
    """Tables, views and INSERTs of a script, held against what is saved in a folder."""

    kept: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
    """Saved, but made from something else: tables are read again, views are computed anew."""
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    """Saved, and not in the script any more."""

    @property
    def is_harmless(self) -> bool:
        """True if nothing that is saved is computed anew or let go."""
        return not self.recomputed and not self.gone


def compared(program: Program, folder: Path) -> Comparison:
    """What a program would keep of a folder; nothing is changed, also not below a pipeline that runs there."""
    if not is_saved(folder):
        return Comparison(new=(*program.tables, *program.results))
    progress = Progress(folder)
    try:
        program = with_keys(program, progress)
        kept = kept_of(program, progress)
        saved = {name for name, one in progress.relations.items() if one.fingerprint}
        mine = list(dict.fromkeys((*program.tables, *program.results)))
        return Comparison(
            kept=tuple(name for name in mine if name in kept),
            recomputed=tuple(name for name in mine if name in saved and name not in kept),
            new=tuple(name for name in mine if name not in saved),
            gone=tuple(name for name in _said(progress) if name in saved and name not in mine),
        )
    finally:
        progress.close()


def is_saved(folder: Path) -> bool:
    """True if a pipeline has begun to work in a folder."""
    return (folder / FILE).exists()


def made_from(folder: Path) -> object:
    """What is saved in a folder was made from this: another value, another comparison; None before anything is saved."""
    if not is_saved(folder):
        return None
    progress = Progress(folder)
    try:
        return progress.text("script"), {name: one.fingerprint for name, one in progress.relations.items()}
    finally:
        progress.close()


def kept_of(program: Program, progress: Progress) -> dict[str, State]:
    """The saved States that a program goes on with: made from the same, and going where they went."""
    made_from, moved = fingerprints(program), moved_of(program, progress)
    return {
        name: saved.state
        for name, saved in progress.relations.items()
        if made_from.get(name) == saved.fingerprint and name not in moved
    }


def with_keys(program: Program, progress: Progress) -> Program:
    """Tables declared without a key get the one their source logs by, as it was when they were first read."""
    tables = dict(program.tables)
    for name, table in program.tables.items():
        saved = progress.relations.get(name)
        if table.schema.key:
            continue
        is_known = saved is not None and saved.fingerprint == table.fingerprint
        with placed(table.table.place):
            key = (
                saved.state.schema.key
                if saved and is_known
                else table.type.resolving_key(table.table.options)
            )
        schema = replace(table.schema, key=key)
        tables[name] = replace(table, schema=schema, table=replace(table.table, schema=schema))
    return replace(program, tables=tables)


def destinations(program: Program) -> dict[str, str]:
    """Where each INSERT goes, under the name by which progress remembers it."""
    return {f"sink of {node.relation}": f"{node.sink} {node.table.options!r}" for node in program.sinks}


def moved_of(program: Program, progress: Progress) -> set[str]:
    """INSERTs that go somewhere else than before: the new place gets every row, so they are computed anew."""
    before = {name: progress.text(name) for name in destinations(program)}
    moved = [name for name, now in destinations(program).items() if before[name] not in (None, now)]
    relations = {name.removeprefix("sink of ") for name in moved}
    return relations | {sums_relation(name) for name in relations}


def replaced_of(program: Program, progress: Progress, kept: Mapping[str, State]) -> dict[str, State]:
    """Views that are made anew but had rows before, of the same columns or key: sinks hear only the difference."""
    return {
        name: saved.state
        for name, saved in progress.relations.items()
        if name in program.views
        and name not in kept
        and _can_take_back(saved.state.schema, program.views[name].schema)
    }


def report_catalog(
    program: Program, progress: Progress, kept: Mapping[str, State], listener: Listener
) -> None:
    """On a known folder, say what is kept and what is computed anew."""
    if not progress.relations:
        return
    again = [name for name in program.results if name not in kept]
    tables = [name for name in program.tables if name not in kept]
    same = [name for name in (*program.tables, *program.results) if name in kept]
    listener.report(Report("resume", f"keeps {', '.join(same) or 'nothing'}", len(same), len(same)))
    if again or tables:
        listener.report(Report("recompute", ", ".join((*tables, *again)), 0, len(again) + len(tables)))


def _can_take_back(before: Schema, now: Schema) -> bool:
    """True if rows of a former version can be named in terms of this one: a sink finds rows by their key, or whole."""
    if now.key:
        key = [column for column in now if column.name in now.key]
        return before.columns == now.columns or all(column in before.columns for column in key)
    nested = [c for c in (*before, *now) if "<" in c.type and not (c in before.columns and c in now.columns)]
    return before.names == now.names and not nested


def _said(progress: Progress) -> list[str]:
    """The names of tables, views and INSERTs of the script that ran here before."""
    script = parse_script(progress.text("script") or "", progress.text("file") or "")
    named = [one.name for one in script if isinstance(one, sql.CreateTable | sql.CreateView)]
    return [*named, *remembered_in(progress).inserts.values()]

"""What a former script made at sources that the edited one reads no more: removed, so that no server keeps its log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headwater.errors import HeadwaterError
from headwater.runtime.compile import compile_script
from headwater.runtime.ends import by_source, source_context
from headwater.runtime.facts import Listener
from headwater.runtime.hidden import Hidden
from headwater.runtime.program import Program
from headwater.runtime.progress import Progress
from headwater.runtime.remembered import remembered_in
from headwater.sources.base import Report
from headwater.spark.engine import Engine
from headwater.sql.script import parse_script
from headwater.storage.place import remove


def former_program(progress: Progress, engine: Engine, hidden: Hidden) -> Program | None:
    """The program of the script that ran here before, without asking its sources."""
    text, file = progress.text("script"), progress.text("file")
    if text is None or file is None:
        return None
    columns = {name: saved.state.schema for name, saved in progress.relations.items()}
    try:
        script, known = parse_script(text, file), remembered_in(progress)
        program = compile_script(script, engine, hidden=hidden, known_columns=columns, remembered=known)
    except HeadwaterError:
        # It cannot be compiled any more (a reference that is gone): then nobody knows what it read.
        return None
    return replace(program, settings=replace(program.settings, name=progress.text("name") or ""))


def forget_unread(former: Program, read: Collection[str], progress: Progress, *, listener: Listener) -> None:
    """Remove what was made at sources of the former program that are not among those that are read."""
    for name, tables in by_source(former).items():
        if name in read:
            continue
        context = source_context(former, progress.books, name, listener.report)
        try:
            tables[0].type.forget([table.table for table in tables], context)
        except HeadwaterError as problem:
            said = f"what was made at {name} is still there: {problem.message}"
            listener.report(Report("resume", said, 1, 1))
            continue
        remove(context.folder)
        listener.report(Report("resume", f"no longer reads {name}", 1, 1))

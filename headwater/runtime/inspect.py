"""Look inside a script or a saved pipeline, let a table of it be read again, or remove it: explain, verify, drop."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from headwater.errors import StateError, UsageError
from headwater.incremental.change_plan import sums_relation
from headwater.nearest import nearest_hint
from headwater.runtime.answers import explain
from headwater.runtime.compile import compile_script
from headwater.runtime.costs import CostModel
from headwater.runtime.declared import check_declared
from headwater.runtime.ends import by_source, source_context
from headwater.runtime.facts import Listener, Silent
from headwater.runtime.hidden import Hidden
from headwater.runtime.holding import held_folder, marked
from headwater.runtime.keeping import is_saved
from headwater.runtime.open import open_engine, with_name
from headwater.runtime.pipeline import COSTS, Pipeline
from headwater.runtime.program import Program
from headwater.runtime.progress import Progress
from headwater.runtime.questions import analyzed
from headwater.runtime.remembered import remembered_in
from headwater.runtime.stops import stops_of
from headwater.runtime.verify import Difference, verify
from headwater.spark.engine import Engine
from headwater.sql.script import parse_script
from headwater.storage.turns import is_shared

OURS = (
    "state",
    "log",
    "work",
    "compaction",
    "feed",
    "spark.log",
    "lock",
    "progress.db-wal",
    "progress.db-shm",
    "progress.db",
    "progress.db.records",
    "turns",
)
"""What a pipeline keeps in its folder; whatever else lies there is the user's."""


def explain_script(text: str, *, file: str) -> str:
    """Plan, strategies and maintaining SQL of every view, INSERT and SELECT of a script, and its own answers."""
    script, hidden = parse_script(text, file), Hidden()
    with hidden.watching(), tempfile.TemporaryDirectory() as folder:
        check_declared(script, hidden)
        engine = open_engine("explain", Path(folder), Silent())
        program = compile_script(script, engine, hidden=hidden)
    explained = [explain(result, program.views, program.tables) for result in program.results.values()]
    return "\n\n".join((*program.answers, *explained))


def analyze_state(state: Path, *, listener: Listener) -> str:
    """EXPLAIN ANALYZE of every result of a saved pipeline: what is stored, and what its last step cost."""
    with _saved(state, listener) as (program, _, progress):
        states = {name: saved.state for name, saved in progress.relations.items()}
        costs = CostModel()
        if (known := progress.text(COSTS)) is not None:
            costs.take_text(known)
        return "\n\n".join(analyzed(program, name, states, costs.recent) for name in program.results)


def verify_state(state: Path, *, listener: Listener) -> list[Difference]:
    """Recompute every result of a saved pipeline from its saved tables; the source is not asked."""
    with _saved(state, listener) as (program, engine, progress):
        states = {name: saved.state for name, saved in progress.relations.items()}
        stops = stops_of(program, progress, states)
        needed = [name for name in (*program.tables, *program.views) if name not in stops.nodes]
        missing = [name for name in needed if name not in states]
        if missing:
            raise StateError(
                f'"{missing[0]}" has no saved state yet',
                hint="Run the pipeline until its first batch is done, then verify.",
            )
        for name, path in ((name, path) for name, one in states.items() for path in one.paths):
            if not path.exists():
                return [Difference(name, f"the file {path.name} is missing")]
        return verify(stops, engine, states)


def resnapshot_state(state: Path, table: str, *, listener: Listener) -> list[str]:
    """Forget the rows of a table, so that its source reads them again at the next start; the results that read it.

    Their rows stay until they are computed anew, so that sinks hear only the difference.
    """
    with _saved(state, listener) as (program, _, progress):
        if table not in program.tables:
            raise UsageError(
                f"the pipeline has no table '{table}'",
                hint=nearest_hint(table, sorted(program.tables), "tables"),
            )
        if progress.planned_batch > progress.batch_id:
            raise StateError(
                f"batch {progress.planned_batch} was interrupted, and has to be repeated with the rows it began with",
                hint="Run the pipeline once (headwater run FILE --once), then ask again.",
            )
        results = _readers(program, table)
        views = _made_from(program, table)
        gone = {table, *map(sums_relation, views)}
        progress.retire(gone & progress.relations.keys(), views & progress.relations.keys())
        return results


def _readers(program: Program, table: str) -> list[str]:
    """The results that read a table, also through others."""
    found: list[str] = []
    # A result reads only what stands before it.
    for name, result in program.results.items():
        if {table, *found} & set(result.reads):
            found.append(name)
    return found


def _made_from(program: Program, table: str) -> set[str]:
    """The stored relations that a table's rows come to; a part that another result shares may have none of them."""
    found: set[str] = set()
    for name, view in program.views.items():
        if {table, *found} & set(view.block.inputs):
            found.add(name)
    return found


def drop_state(state: Path, *, listener: Listener) -> None:
    """Remove what a pipeline made: slots and publications at the source, then its folder."""
    with _saved(state, listener) as (program, _, progress):
        _forget(program, progress.books, listener)
    _remove(state)


def discard(pipeline: Pipeline) -> None:
    """Close a pipeline that nobody goes on with, and remove what it made."""
    pipeline.close()
    with pipeline.hidden.watching():
        _forget(pipeline.program, pipeline.folder, pipeline.listener)
    _remove(pipeline.folder)


def _forget(program: Program, state: Path, listener: Listener) -> None:
    for name, tables in by_source(program).items():
        context = source_context(program, state, name, listener.report)
        tables[0].type.forget([table.table for table in tables], context)


def _remove(state: Path) -> None:
    for path in (*(state / name for name in OURS), *marked(state)):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if not any(state.iterdir()):
        state.rmdir()


@contextmanager
def _saved(state: Path, listener: Listener) -> Iterator[tuple[Program, Engine, Progress]]:
    """The saved program of a folder, compiled as it was, and what is saved of it."""
    if not (is_saved(state) or is_shared(state)):
        raise StateError(
            f'there is no saved state in "{state}"',
            hint="Give the folder of a pipeline; without --state it is .headwater/<name>.",
        )
    state, hidden = state.absolute(), Hidden()
    with hidden.watching(), ExitStack() as closing:
        hold = held_folder(state, closing, listener)
        progress = Progress(hold.books)
        closing.callback(progress.close)
        text, file, name = (progress.text(k) for k in ("script", "file", "name"))
        if text is None or file is None or name is None:
            raise StateError(
                f'the state in "{state}" never came to its first batch',
                hint="Run the pipeline again, or remove the folder.",
            )
        engine = open_engine(name, hold.work, listener)
        columns = {n: saved.state.schema for n, saved in progress.relations.items()}
        script, known = parse_script(text, file), remembered_in(progress)
        program = compile_script(script, engine, hidden=hidden, known_columns=columns, remembered=known)
        yield with_name(program, name), engine, progress

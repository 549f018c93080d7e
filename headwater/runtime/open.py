"""Open a pipeline: compile the script, find what is saved, connect both ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.errors import StateError
from headwater.incremental.change_plan import sums_relation
from headwater.log.positions import Cut
from headwater.runtime.compaction import compactor_beside
from headwater.runtime.compile import compile_script
from headwater.runtime.dead_letters import NODE as DEAD_LETTERS
from headwater.runtime.declared import check_declared
from headwater.runtime.ends import by_source, open_ends
from headwater.runtime.facts import Listener
from headwater.runtime.hidden import Discreet, Hidden
from headwater.runtime.holding import Hold, check_sources, held_folder
from headwater.runtime.keeping import (
    destinations,
    kept_of,
    moved_of,
    replaced_of,
    report_catalog,
    with_keys,
)
from headwater.runtime.leftovers import forget_unread, former_program
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Program
from headwater.runtime.progress import Progress
from headwater.runtime.remembered import COLUMNS, remembered
from headwater.schema import Schema
from headwater.services.artifacts import cached, fetch
from headwater.services.class_archive import archive_options
from headwater.services.java import java_home, stderr_to
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.base import Report
from headwater.sources.registry import SOURCE_TYPES
from headwater.spark.cluster import Cluster as Cluster
from headwater.spark.cluster import is_spread
from headwater.spark.engine import Engine
from headwater.spark.lake import SparkLake
from headwater.spark.session import (
    borrowed_session,
    open_session,
    own_session,
    refuse_late_jars,
    spark_classes,
)
from headwater.sql import statements as sql
from headwater.sql.script import parse_script
from headwater.tables import held, lookup
from headwater.tables.state import State

HOME = Path(".headwater")


def open_pipeline(
    text: str, *, file: str, state: Path | None, listener: Listener, cluster: Cluster | None = None
) -> Pipeline:
    """Compile, connect and resume; nothing is changed anywhere if this raises."""
    script = parse_script(text, file)
    said = {"name": pipeline_name(script, file), "script": text, "file": file}
    return open_script(script, said, state=state, listener=listener, spark=cluster)


def open_script(
    script: list[sql.Statement],
    said: Mapping[str, str],
    *,
    state: Path | None,
    listener: Listener,
    jars: Sequence[Path] = (),
    spark: SparkSession | Cluster | None = None,
) -> Pipeline:
    """As `open_pipeline`, for statements that were read before; on a cluster or a session of the caller's own if given.

    `said` is kept: the pipeline's name, the text to read the statements from again, its file. `jars` are for Spark.
    """
    name, text = said["name"], said["script"]
    folder, hidden = (state or HOME / name).absolute(), Hidden()  # Spark may have another working folder
    listener = Discreet(listener, hidden)
    with hidden.watching(), ExitStack() as closing:
        check_declared(script, hidden)
        hold = held_folder(folder, closing, listener, is_shared=is_spread(spark))
        needed = list(dict.fromkeys([*spark_jars(script, listener), *jars]))
        engine = _engine(name, hold, listener, jars=needed, spark=spark, closing=closing)
        compiled = compile_script(script, engine, hidden=hidden, remembered=remembered(hold.books))
        check_sources(compiled, hold)
        program, progress = with_name(compiled, name), Progress(hold.books)
        closing.callback(progress.close)
        folder.chmod(0o700)  # the script is kept beside the progress, and a password may stand in it
        _refuse_edit_of_the_first(progress, text)
        former = _former(progress, engine, hidden) if progress.text("script") not in (None, text) else None
        if progress.text("script") is None:
            progress.keep_texts(said)  # before anything is made at the source, so that drop can find it
        pipeline = _resumed(program, engine, progress, listener, closing)
        pipeline.hidden, progress.check_turn = hidden, hold.check
        if former is not None:
            forget_unread(former, by_source(program), progress, listener=listener)
        progress.keep_texts(dict(said) | destinations(program) | {COLUMNS: program.columns})
        pipeline.closing = closing.pop_all()
        return pipeline


def _engine(
    name: str,
    hold: Hold,
    listener: Listener,
    *,
    jars: Sequence[Path],
    spark: SparkSession | Cluster | None,
    closing: ExitStack,
) -> Engine:
    if isinstance(spark, SparkSession):
        return borrowed_engine(spark, hold.work, jars=jars)
    opened = open_engine(name, hold.work, listener, jars=jars, cluster=spark)
    return replace(opened, spark=own_session(opened.spark, closing))


def _former(progress: Progress, engine: Engine, hidden: Hidden) -> Program | None:
    """What was said before. It is compiled aside: a function of the same name may have been another one then."""
    return former_program(progress, replace(engine, spark=borrowed_session(engine.spark)), hidden)


def with_name(program: Program, name: str) -> Program:
    """The program under the name its State is kept by."""
    return replace(program, settings=replace(program.settings, name=name))


def pipeline_name(script: list[sql.Statement], file: str) -> str:
    """The name a script gives itself, else the stem of its file."""
    named = [s.value for s in script if isinstance(s, sql.Set) and s.key == "pipeline.name" and s.value]
    return named[-1] if named else (Path(file).stem.strip("<>") or "sql")


def spark_jars(script: list[sql.Statement], listener: Listener) -> list[Path]:
    """What Spark needs to read or write tables of a script itself, fetched if it is not here yet."""
    named = {s.options.get("connector") for s in script if isinstance(s, sql.CreateTable)}
    wanted = {jars for name, kind in SOURCE_TYPES.items() if name in named for jars in kind.jars}
    wanted |= {jars for name, kind in SINK_TYPES.items() if name in named for jars in kind.jars}

    def told(what: str, done: int, total: int) -> None:
        listener.report(Report("fetch", f"fetching {what}", done, total))

    return [jar for name in sorted(wanted) for jar in sorted(fetch(name, told).glob("*.jar"))]


def jars_at_hand() -> list[Path]:
    """What Spark needs to read from any source, as far as it is here already.

    What sinks need is not among it: Spark plans every statement otherwise once it knows Delta.
    """
    wanted = {jars for kind in SOURCE_TYPES.values() for jars in kind.jars}
    found = [folder for name in sorted(wanted) if (folder := cached(name)) is not None]
    return [jar for folder in found for jar in sorted(folder.glob("*.jar"))]


def open_engine(
    name: str,
    folder: Path,
    listener: Listener,
    *,
    jars: Sequence[Path] = (),
    cluster: Cluster | None = None,
) -> Engine:
    """Spark, with words while it starts."""
    listener.report(Report("spark", "starting Spark"))
    with stderr_to(folder.parent / "spark.log"):
        home = java_home()
        kept = archive_options("spark", home, spark_classes())
        session = open_session(home, name=f"headwater {name}", jars=jars, java_options=kept, cluster=cluster)
    listener.report(Report("spark", "starting Spark", 1, 1))
    return Engine(session, folder)


def borrowed_engine(spark: SparkSession, folder: Path, *, jars: Sequence[Path] = ()) -> Engine:
    """Spark of the caller's own."""
    refuse_late_jars(jars, "Start Spark with them in spark.jars.")
    return Engine(borrowed_session(spark), folder)


def _resumed(
    program: Program, engine: Engine, progress: Progress, listener: Listener, closing: ExitStack
) -> Pipeline:
    engine.tidy()
    program = with_keys(program, progress)
    lookup.forget_all(progress.folder / "state")
    for path in progress.leftovers():
        held.remove(path)
    kept, moved = kept_of(program, progress), moved_of(program, progress)
    _refuse_edit_in_between(program, progress, kept)
    states = {
        name: kept.get(name) or _empty(progress, name, schema) for name, schema in _schemas(program).items()
    }
    report_catalog(program, progress, kept, listener)
    cut = _cut(program, progress, kept)
    _retire(program, progress, kept)
    lake = SparkLake(engine.spark)
    progress.cut = cut
    ends = open_ends(program, progress, listener.report, kept=kept, closing=closing, lake=lake)
    compactor = compactor_beside(engine, program, progress.working_folder("compaction"))
    closing.callback(compactor.close)
    return Pipeline(
        name=program.settings.name,
        folder=progress.folder,
        program=program,
        engine=engine,
        progress=progress,
        ends=ends,
        listener=listener,
        states=states,
        pending={name for name in program.views if name not in kept},
        replaced={n: s for n, s in replaced_of(program, progress, kept).items() if n not in moved},
        compactor=compactor,
        closing=ExitStack(),
    )


def _refuse_edit_of_the_first(progress: Progress, text: str) -> None:
    """Before the first batch is done no relation is kept: only the text tells whether it was edited."""
    if progress.planned_batch > progress.batch_id == 0 and progress.text("script") != text:
        raise _interrupted(progress, "the script")


def _refuse_edit_in_between(program: Program, progress: Progress, kept: Mapping[str, State]) -> None:
    """A batch that some sink may have already must be repeated by the script that began it."""
    edited = [node.table.name for node in program.sinks if node.relation not in kept]
    if progress.planned_batch > progress.batch_id > 0 and edited:
        raise _interrupted(progress, f'what goes to "{edited[0]}"')


def _interrupted(progress: Progress, edited: str) -> StateError:
    return StateError(
        f"batch {progress.planned_batch} was interrupted, and {edited} was edited since",
        detail="A sink may have the batch already; only the script that began it can repeat it exactly.",
        hint="Run the former script once (headwater run FILE --once), then the edited one.",
    )


def _retire(program: Program, progress: Progress, kept: Mapping[str, State]) -> None:
    """Let go of what the script no longer means, before a source does: nothing may seem to be held that is not.

    The rows of a view that is made anew stay, so that sinks hear only the difference. So do those of an INSERT that is
    gone: the sink has them, and it may come again. Dead letters stay, as nobody tells them again.
    """
    letters = DEAD_LETTERS.fingerprint
    others = [n for n, saved in progress.relations.items() if n not in kept and saved.fingerprint != letters]
    stale = [name for name in others if name in program.views or progress.text(f"sink of {name}") is not None]
    progress.retire([name for name in others if name not in stale], stale)


def _schemas(program: Program) -> dict[str, Schema]:
    schemas = {name: table.schema for name, table in program.tables.items()}
    for name, view in program.views.items():
        schemas[name] = view.schema
        if view.sums_schema is not None:
            schemas[sums_relation(name)] = view.sums_schema
    return schemas


def _empty(progress: Progress, name: str, schema: Schema) -> State:
    return State(name, schema, progress.state_folder(name))


def _cut(program: Program, progress: Progress, kept: Mapping[str, State]) -> Cut:
    """Where each source goes on; one that is new, or is read no more, has no place."""
    names = {table.source for table in program.tables.values()}
    return Cut(tuple(pair for pair in progress.cut.positions if pair[0] in names))

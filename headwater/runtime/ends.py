"""Both ends of a pipeline: the sources it reads, the sinks it writes, each opened once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from headwater.errors import AwayError, HeadwaterError, SinkError, SourceError, placed
from headwater.fault_points import pass_by
from headwater.log.events import Delivery
from headwater.log.positions import Cut, Position
from headwater.runtime.program import Program, SinkNode, TableNode, fingerprint
from headwater.runtime.progress import Progress
from headwater.sinks.base import Sink, SinkContext, SinkTable, SinkType
from headwater.sinks.lake.contract import Lake
from headwater.sources.base import Report, Source, SourceContext, is_back, waits
from headwater.storage.place import remove

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""In seconds, between two tries to open a sink that is away."""

REPEAT_SECONDS = 60.0
"""How long a source may take to come to the end of a batch that it delivered before."""


@dataclass
class Ends:
    """Sources and sinks by name, and the positions from which on the tables of a source are whole."""

    sources: dict[str, Source] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    whole: dict[str, Position] = field(default_factory=dict)

    def read(self, cut: Cut, limit: int, *, wait: float, upto: Cut | None) -> dict[str, Delivery]:
        """What each source has after the cut; waits for the first of them at most `wait` seconds."""
        found: dict[str, Delivery] = {}
        for name, source in self.sources.items():
            end = upto.of(name) if upto is not None else None
            if upto is not None and (end is None or end == cut.of(name)):
                continue
            patience = 0.0 if found else wait / len(self.sources)
            delivery = source.read(cut.of(name), limit, wait=REPEAT_SECONDS if end else patience, upto=end)
            if delivery is not None:
                found[name] = delivery
            elif end is not None:
                raise SourceError(
                    f"the interrupted batch cannot be read again: {name} does not come to {end}",
                    hint="Its log is gone. Remove the state with headwater drop, and start with a new snapshot.",
                )
        if found:
            pass_by("batch read")
        return found

    def now(self) -> dict[str, Position]:
        """For each source a position before which everything committed by now stands."""
        return {name: source.now() for name, source in self.sources.items()}

    def reached(self, cut: Cut, target: Mapping[str, Position]) -> bool:
        """True if the cut is at or after the target in every source."""
        places = {name: cut.of(name) for name in target}
        return all((place := places[name]) is not None and place >= end for name, end in target.items())

    def whole_at(self, cut: Cut) -> bool:
        """True if every table's snapshot is within the cut."""
        return self.reached(cut, self.whole)

    def commit(self, cut: Cut) -> None:
        """Everything up to the cut is durably done."""
        for name, source in self.sources.items():
            position = cut.of(name)
            if position is not None:
                source.commit(position)


def open_ends(
    program: Program,
    progress: Progress,
    report: Callable[[Report], None],
    *,
    kept: Collection[str],
    closing: ExitStack,
    lake: Lake | None = None,
) -> Ends:
    """Open the sinks, then start the sources where the progress says; what was started is undone if one fails.

    Sinks first: a sink that is not there must not leave a slot at the source. `kept` are the relations that go on.
    """
    told = SinkContext(_pipeline_name(program), waits=_told(report), lake=lake, folder=progress.for_executors)
    ends = Ends(sinks=_open_sinks(program, progress, told, kept=kept, closing=closing))
    started: list[tuple[str, list[TableNode], SourceContext]] = []
    opened = closing.enter_context(ExitStack())
    try:
        for name, tables in by_source(program).items():
            context_in = source_context(program, progress.books, name, report)
            with placed(tables[0].table.place):
                wanted = [replace(t.table, anew=t.name not in progress.relations) for t in tables]
                source = tables[0].type.open(wanted, context_in)
                opened.callback(source.close)
                whole = source.start(progress.cut.of(name))
            started.append((name, tables, context_in))
            if whole is not None:
                ends.whole[name] = whole
            ends.sources[name] = source
    except HeadwaterError:
        # Nobody removes what a driver reads that has taken over; and to know of it the folder has to be held.
        opened.close()
        progress.confirm()
        for name, tables, context_in in started:
            if progress.cut.of(name) is None:
                tables[0].type.forget([t.table for t in tables], context_in)
                remove(context_in.folder)
        raise
    return ends


def _open_sinks(
    program: Program, progress: Progress, context: SinkContext, *, kept: Collection[str], closing: ExitStack
) -> dict[str, Sink]:
    """Every sink by name; one that is ahead of our progress is refused."""
    opened: dict[str, Sink] = {}
    written = {name for name, saved in progress.relations.items() if saved.state.rows}
    held = {node.table.name for node in program.sinks if node.relation in written}
    for name, nodes in _by_sink(program).items():
        tables = [replace(node.table, held=node.table.name in held) for node in nodes]
        sink = _opened(nodes[0].type, tables, context, goes_on=any(node.relation in kept for node in nodes))
        closing.callback(sink.close)
        with placed(nodes[0].table.place):
            empty = nodes[0].type.empty.format(pipeline=context.pipeline)
            check_batches(name, sink.last_batch(), progress, pipeline=context.pipeline, empty=empty)
        opened[name] = sink
    return opened


def _opened(kind: SinkType, tables: Sequence[SinkTable], context: SinkContext, *, goes_on: bool) -> Sink:
    """A sink, connected; one that goes on was right once, so if it is away it is waited for."""
    pause = FIRST_PAUSE
    while True:
        try:
            sink = kind.open(tables, context)
        except AwayError as problem:
            if not goes_on:
                raise
            if pause == FIRST_PAUSE:
                context.waits(problem.message)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            continue
        context.waits(None)
        return sink


def _told(report: Callable[[Report], None]) -> Callable[[str | None], None]:
    """Hand on why a sink waits, and that the wait is over."""
    heard: list[str] = []

    def tell(trouble: str | None) -> None:
        if trouble is not None:
            report(waits(trouble))
            heard.append(trouble)
        elif heard:
            report(is_back(heard[-1]))
            heard.clear()

    return tell


def check_batches(name: str, written: int | None, progress: Progress, *, pipeline: str, empty: str) -> None:
    """A sink that is ahead of our progress would drop our batches as repeats: refuse, and say what to do.

    Ahead by the batch we had planned is a crash between the sink's commit and ours; that batch is repeated.
    """
    if written is None or written <= progress.batch_id or written == progress.planned_batch:
        return
    raise SinkError(
        f'the sink {name} has batch {written} of pipeline "{pipeline}", this state has {progress.batch_id}',
        detail="It was written from another state folder, or this folder is an older copy.",
        hint="Go on with the folder that wrote it, or give the pipeline another name"
        + (f", or {empty}." if empty else "."),
    )


def by_source(program: Program) -> dict[str, list[TableNode]]:
    """The tables of each source."""
    found: dict[str, list[TableNode]] = {}
    for table in program.tables.values():
        found.setdefault(table.source, []).append(table)
    return found


def _by_sink(program: Program) -> dict[str, list[SinkNode]]:
    """The tables of each sink, each once: a table that several INSERTs write is opened once."""
    found: dict[str, dict[str, SinkNode]] = {}
    for node in program.sinks:
        known = found.setdefault(node.sink, {})
        if node.table.name in known:
            both = known[node.table.name].table.append_only and node.table.append_only
            node = replace(node, table=replace(node.table, append_only=both))
        known[node.table.name] = node
    return {name: list(nodes.values()) for name, nodes in found.items()}


def source_context(
    program: Program, folder: Path, source: str, report: Callable[[Report], None]
) -> SourceContext:
    """What a source is given: its folder is named after it, so that an edited script finds it again."""
    return SourceContext(_pipeline_name(program), folder / "log" / fingerprint(source), report)


def _pipeline_name(program: Program) -> str:
    return program.settings.name


def committed_at(deliveries: Mapping[str, Delivery]) -> float | None:
    """When the last of some transactions was committed."""
    moments = [d.committed_at for d in deliveries.values() if d.committed_at is not None]
    return max(moments, default=None)

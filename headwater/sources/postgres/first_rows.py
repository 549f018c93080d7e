"""The first rows of tables on their way into the log: planned, then read by one or by several."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from headwater.log.segments import Segment
from headwater.log.shards import shown_name
from headwater.log.store import LogWriter
from headwater.sources.base import Report
from headwater.sources.postgres.checks import Pair
from headwater.sources.postgres.connect import Address, connect
from headwater.sources.postgres.copy_text import CopiedTable
from headwater.sources.postgres.count import Count, Finished, Progress
from headwater.sources.postgres.earlier import Earlier, Kept, look_up
from headwater.sources.postgres.ranges import Range, Relation
from headwater.sources.postgres.ranges import plan as make_plan
from headwater.sources.postgres.reader import Job, read
from headwater.sources.postgres.readers import Heard, read_together, reader_count
from headwater.sources.postgres.snapshot import FirstRows, Moment, Snapshot

WORTH_PAGES = 4_096
"""From so many pages on, 32 megabytes, it pays to start readers."""


def copied(pair: Pair, database: str) -> CopiedTable:
    """What is read of a table."""
    declared = pair.declared
    found = [one for column in declared.own if (one := pair.found.column(column.name)) is not None]
    assert len(found) == len(declared.own), "checked before anything is made"
    names, types = tuple(one.name for one in found), tuple(one.type for one in found)
    beside = declared.beside(database)
    return CopiedTable(
        declared.name, declared.schema, names, types, declared.place, beside, parks=declared.parks
    )


@dataclass
class FirstRowsOf:
    """The first rows of some tables, read into a log as of the moment of a snapshot."""

    pairs: Sequence[Pair]
    address: Address
    log: LogWriter
    progress: Progress
    earlier: Earlier | None = None
    """What an earlier life has left of them; None if nobody could go on with parts."""

    def read(self, snapshot: Snapshot, *, position: int, finished: Finished) -> None:
        """Read all of them."""
        readers, tables = reader_count(), [copied(pair, self.address.database) for pair in self.pairs]
        relations = snapshot.relations(self.pairs)
        kept = self._kept(relations, position)
        plan = make_plan(
            relations,
            readers=readers,
            seq=self.log.seq,
            page_bytes=snapshot.page_bytes(),
            taken={table: one.taken for table, one in kept.items()},
        )
        self.log.seq = plan.seq
        jobs = [Job(part, self.log.stem()) for part in plan.ranges]
        moment = Moment(self.address, None, position, self.log.folder)
        count = Count(self.pairs, plan, self.progress, finished)
        for table in tables:
            if table.name in kept:
                count.take(table.name, kept[table.name].rows, *self._made_good(snapshot, table, moment))
        count.begin()
        if plan.pages < WORTH_PAGES or len(jobs) <= 1:
            self._read_alone(snapshot, tables, jobs, moment=moment, count=count)
            return
        # By a name of our own: whoever made the moment may be gone before the last reader has come.
        moment = replace(moment, snapshot=snapshot.export())
        heard = Heard(
            count.began, count.wrote, lambda part, segments: self._done(part, segments, moment, count)
        )
        left = read_together(moment, tables, jobs, readers=readers, heard=heard)
        self._read_alone(snapshot, tables, left, moment=moment, count=count)

    def _kept(self, relations: Sequence[tuple[str, Relation]], position: int) -> dict[str, Kept]:
        if self.earlier is None:
            return {}
        self.earlier.find(self.pairs, relations, upto=position)
        for name, kept in self.earlier.kept.items():
            said = f"{kept.rows:,} rows of {shown_name(name)} were read before; {len(kept.keys):,} keys changed since"
            self.progress(Report("resume", said))
        return self.earlier.kept

    def _made_good(
        self, snapshot: Snapshot, table: CopiedTable, moment: Moment
    ) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
        """What was read before without the rows that changed since, and these as they are now."""
        assert self.earlier is not None
        kept = self.earlier.kept[table.name]
        rows = FirstRows(table, moment, seq=self.log.seq, stem=self.log.stem(), heard=lambda count: None)
        self.log.seq += len(kept.keys)
        return self.earlier.untouched(table), look_up(snapshot, kept, rows)

    def _done(self, part: Range, segments: tuple[Segment, ...], moment: Moment, count: Count) -> None:
        if self.earlier is not None:
            pair = next(pair for pair in self.pairs if pair.declared.name == part.table)
            self.earlier.keep(pair, part, position=moment.position, segments=segments)
        count.done(part, segments)

    def _read_alone(
        self,
        snapshot: Snapshot,
        tables: Sequence[CopiedTable],
        jobs: Sequence[Job],
        *,
        moment: Moment,
        count: Count,
    ) -> None:
        for job in jobs:

            def heard(rows: int, part: Range = job.part) -> None:
                count.wrote(part, rows)

            count.began(job.part)
            count.done(job.part, read(snapshot, job, moment, tables=tables, heard=heard))


def read_first_rows(rows: FirstRowsOf, name: str, *, position: int, finished: Finished) -> None:
    """Read first rows as of a moment that another connection exported."""
    with closing(connect(rows.address)) as opened:
        snapshot = Snapshot(opened, name)
        rows.read(snapshot, position=position, finished=finished)
        snapshot.close()

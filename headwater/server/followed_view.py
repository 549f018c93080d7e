"""SUBSCRIBE in a session: the rows of a deployed view, or what came after a cut, and then what each batch changes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from headwater.changes.change_set import ChangeSet
from headwater.errors import from_json
from headwater.log.positions import cut_from_text
from headwater.runtime.conversation import Onlooker
from headwater.runtime.feed import Told
from headwater.runtime.live_query import row_key_of
from headwater.schema import Schema, arrow_schema
from headwater.server.asked_rows import all_of
from headwater.server.deployed import Deployed
from headwater.server.followed import Followed, followed
from headwater.server.records import FAILED
from headwater.server.watching import CATCH_UP_SECONDS, Shape, Watching, batch_of, changes_of, weighted

POLL_SECONDS = 0.05

TOLD_SECONDS = 1.0
"""So long a batch that can be read may take until it is told how long it took."""


@dataclass(kw_only=True)
class FollowedView(Watching):
    """A view that is followed from its feed, however slowly; nothing is computed for it."""

    view: str
    after: str | None
    mark: str = ""
    """That of the batch that was told last."""
    _has_told: bool = False

    def tell(self, onlooker: Onlooker) -> None:
        """Tell batch after batch, until the deployment is over."""
        found, at = self._begun(onlooker)
        if self.once and found.deployed.pipeline is not None:
            found.deployed.turning.catch_up(CATCH_UP_SECONDS)
        while not self.stopping.is_set():
            is_over = self.once or found.deployed.is_over
            at = self._behind(onlooker, found, at)
            if is_over:
                self._end(onlooker, found.deployed)
                return
            self.stopping.wait(POLL_SECONDS)

    def _begun(self, onlooker: Onlooker) -> tuple[Followed, int]:
        """The view, and the batch up to which all is told."""
        with self.server.reader.held() as held:
            found = followed(self.server, held, self.view)
            relation = found.relation
            shape = self._shape(found, relation.schema)
            onlooker.open(shape)
            if self.after is not None:
                self.mark = self.after
                return found, found.feed.after(self.after)
            self.mark = found.mark
            if relation.is_ready:
                rows = held.select(all_of(relation.full_name, relation.schema)).table
                cut = held.snapshots[relation.pipeline].cut
                changes = changes_of(shape, weighted(rows, 1))
                onlooker.batch(batch_of(found.deployed, relation.batch_id, cut, changes))
                self._has_told = True
            return found, relation.batch_id

    def _behind(self, onlooker: Onlooker, found: Followed, at: int) -> int:
        """Tell all batches that are done; the last one of them."""
        pipeline = found.deployed.last_pipeline or found.pipeline
        feed = pipeline.feed or found.feed
        while not self.stopping.is_set():
            with feed.next(found.relation.name, at) as told:
                if told is None:
                    break
                at, self.mark = told.batch_id, told.mark
                if told.changes is not None:
                    self._tell_batch(onlooker, replace(found, pipeline=pipeline), told, told.changes)
        return at

    def _tell_batch(self, onlooker: Onlooker, found: Followed, told: Told, changes: ChangeSet) -> None:
        shape = self._shape(found, changes.schema)
        if told.is_anew:
            if self._has_told or self.after is not None:
                batch = f"batch {told.batch_id}"
                onlooker.say(
                    f"{self.view} begins anew with {batch}: what was told of it before is no longer true"
                )
            onlooker.open(shape)
        self._has_told = True
        self._wait_for_numbers(found.deployed, told.batch_id)
        cut = cut_from_text(told.mark.partition("@")[2].replace(",", " "))
        known = ChangeSet(shape.query, shape.schema(shape.query), changes.parts)
        onlooker.batch(batch_of(found.deployed, told.batch_id, cut, known))

    def _shape(self, found: Followed, columns: Schema) -> Shape:
        key = row_key_of(found.pipeline, found.relation.name)
        return Shape(found.relation.full_name, columns, key, arrow_schema(columns).empty_table())

    def _wait_for_numbers(self, deployed: Deployed, batch_id: int) -> None:
        deadline = time.monotonic() + TOLD_SECONDS
        while deployed.pipeline is not None and time.monotonic() < deadline:
            recent = deployed.facts.recent()
            if recent and recent[-1].batch_id >= batch_id:
                return
            self.stopping.wait(POLL_SECONDS / 5)

    def _end(self, onlooker: Onlooker, deployed: Deployed) -> None:
        """Say why nothing more comes, and how to go on."""
        last = deployed.deployment
        if self.once:
            return
        if last.status == FAILED and last.problem is not None:
            raise from_json(dict(last.problem))
        onlooker.say(f"the deployment of '{deployed.name}' is {last.status}")
        onlooker.say(f"to go on when it runs again: SUBSCRIBE TO {self.view} AFTER '{self.mark}';")

"""A view of a deployed application, and whether it can be followed."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.runtime.feed import Feed
from headwater.runtime.pipeline import Pipeline
from headwater.server.deployed import Deployed
from headwater.server.reader import Held, Relation
from headwater.server.refusals import Conflict
from headwater.server.server import Server
from headwater.server.view_names import find_relation


@dataclass(frozen=True)
class Followed:
    """What is known of a view at the moment in which somebody begins to follow it."""

    relation: Relation
    pipeline: Pipeline
    deployed: Deployed
    feed: Feed
    mark: str
    """What to name to hear what comes after its present batch."""


def followed(server: Server, held: Held, name: str) -> Followed:
    """The view of a name; a table, one that goes on no more and one whose deployment just changes are errors."""
    relation = find_relation(held, name)
    pipeline, snapshot = held.pipelines[relation.pipeline], held.snapshots[relation.pipeline]
    if relation.kind != "view":
        raise Conflict(
            f'"{relation.name}" is a table: its changes are those of its source',
            hint=f"Follow a view: CREATE VIEW v AS SELECT * FROM {relation.name}.",
        )
    if (stopped := snapshot.stopped.get(relation.name)) is not None:
        raise stopped
    deployed = [one for one in server.all_deployed() if one.has_run(pipeline)]
    if not deployed or pipeline.feed is None:
        raise Conflict(f"'{relation.pipeline}' is being started again", hint="Ask again in a moment.")
    mark = pipeline.feed.mark(snapshot.batch_id, snapshot.cut)
    return Followed(relation, pipeline, deployed[0], pipeline.feed, mark)

"""The index `headwater_batches`: which batch of which pipeline a cluster holds.

    {"pipeline": "claims", "sink": "search-http://localhost:9200", "batch_id": 4711}

A document is written after all others of its batch, under the batch id as its version.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from headwater.errors import Place, SinkError
from headwater.sinks.search.client import quoted
from headwater.sinks.search.patience import Patient
from headwater.sinks.search.troubles import refused

INDEX = "headwater_batches"

BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "properties": {
            "pipeline": {"type": "keyword"},
            "sink": {"type": "keyword"},
            "batch_id": {"type": "long"},
        }
    },
}


@dataclass(frozen=True)
class Owner:
    """Who batch ids belong to: a pipeline, on one cluster."""

    pipeline: str
    sink: str

    @property
    def document(self) -> str:
        """The path of its document."""
        short = f"{zlib.crc32(self.sink.encode()):08x}"
        return f"/{INDEX}/_doc/{quoted(f'{self.pipeline}-{short}')}"


def prepare(patient: Patient, place: Place | None) -> None:
    """Make the index if it is missing."""
    answer = patient.ask("PUT", f"/{INDEX}", json.dumps(BODY))
    if not answer.good and "already_exists" not in answer.reason:
        raise refused(answer, f"index '{INDEX}'", place=place)


def last(patient: Patient, owner: Owner, *, place: Place | None) -> int | None:
    """The last batch of an owner that the cluster holds, None if there is none."""
    answer = patient.ask("GET", owner.document)
    if answer.status == 404:
        return None
    if not answer.good:
        raise refused(answer, f"index '{INDEX}'", place=place)
    return int(answer.said["_source"]["batch_id"])


def advance(patient: Patient, owner: Owner, batch_id: int, *, place: Place | None) -> None:
    """Say that a batch is in."""
    said = {"pipeline": owner.pipeline, "sink": owner.sink, "batch_id": batch_id}
    path = f"{owner.document}?version={batch_id}&version_type=external_gte"
    answer = patient.ask("PUT", path, json.dumps(said))
    if answer.status == 409:
        raise SinkError(
            "another process writes for this pipeline",
            detail=f"The cluster holds a later batch of it than {batch_id}.",
            hint="Stop the other process, or give this pipeline another name.",
            place=place,
        )
    if not answer.good:
        raise refused(answer, f"index '{INDEX}'", place=place)

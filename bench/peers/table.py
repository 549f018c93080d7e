"""Everybody who takes part, in the order in which they run."""

from __future__ import annotations

from collections.abc import Sequence

from bench.contender import Contender, Job, Yardstick
from bench.peers.debezium import Engine
from bench.peers.flink import MINI_BATCH, Flink
from bench.peers.floor import Floor
from bench.peers.headwater import Headwater
from bench.peers.pathway import Pathway
from bench.peers.recompute import Recompute
from bench.ways import Way

CONTENDERS: tuple[Contender, ...] = (
    Headwater(),
    Flink(),
    Flink("flink-mini-batch", MINI_BATCH),
    Pathway(),
)
YARDSTICKS: tuple[Yardstick, ...] = (Floor(), Engine(), Recompute())
EVERYONE: tuple[Contender | Yardstick, ...] = (*CONTENDERS, *YARDSTICKS)


def taking_part(names: Sequence[str], job: Job, way: Way) -> list[Contender | Yardstick]:
    """Those who are named and have a part in a job to which changes come this way."""
    return [each for each in EVERYONE if each.name in names and each.takes(job, way)]

"""Everybody who takes part, in the order in which they run."""

from __future__ import annotations

from bench.contender import Contender, Yardstick
from bench.peers.debezium import Engine
from bench.peers.flink import MINI_BATCH, Flink
from bench.peers.floor import Floor
from bench.peers.headwater import Headwater
from bench.peers.pathway import Pathway
from bench.peers.recompute import Recompute

CONTENDERS: tuple[Contender, ...] = (
    Headwater(),
    Flink(),
    Flink("flink-mini-batch", MINI_BATCH),
    Pathway(),
)
YARDSTICKS: tuple[Yardstick, ...] = (Floor(), Engine(), Recompute())
EVERYONE: tuple[Contender | Yardstick, ...] = (*CONTENDERS, *YARDSTICKS)

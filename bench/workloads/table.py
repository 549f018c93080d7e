"""All workloads: the size at which each is run in full, and what makes its course from a size."""

from __future__ import annotations

from collections.abc import Callable

from bench.alone import MILLION, Alone, growth, tpch
from bench.course import Course
from bench.workloads import claims, ranking

WORKLOADS: dict[str, tuple[int, Callable[[int], Course | Alone]]] = {
    # The size is that of the largest table: claims, lines of orders.
    "W1": (2 * MILLION, claims.course),
    "W2": (6 * MILLION, tpch),
    "W3": (2 * MILLION, ranking.course),
    "W4": (64 * MILLION, growth),
    "W5": (2 * MILLION, claims.over_kafka),
}

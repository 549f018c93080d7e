"""Which runs are merged: small ones, and on a cluster not those of a large State that is many files.

Oracle: the runs by their numbers of rows.
"""

from __future__ import annotations

from pathlib import Path

from headwater.runtime.compaction import _split, _to_merge
from headwater.tables.state import Run


def runs(*rows: int) -> tuple[Run, ...]:
    return tuple(Run(Path(str(number)), count) for number, count in enumerate(rows))


def merged(*rows: int, is_spread: bool) -> list[int]:
    return [run.rows for run in _split(runs(*rows), is_spread=is_spread)[1]]


def test_on_one_machine_one_large_run_stays_and_many_become_one() -> None:
    assert merged(9_000_000, 5, 6, is_spread=False) == [5, 6]
    assert merged(*[3_000_000] * 3, 5, is_spread=False) == [3_000_000] * 3 + [5]
    assert _to_merge(runs(*[3_000_000] * 30), is_spread=False) == 30


def test_on_a_cluster_the_files_of_a_large_state_stay_until_much_has_come_after_them() -> None:
    assert merged(*[3_000_000] * 30, 5, 6, is_spread=True) == [5, 6]
    assert _to_merge(runs(*[3_000_000] * 30), is_spread=True) == 0
    assert _to_merge(runs(*[3_000_000] * 30, *[7] * 25), is_spread=True) == 25
    assert len(merged(*[3_000_000] * 4, *[1_000_000] * 4, is_spread=True)) == 8
    assert merged(*[500_000] * 10, is_spread=True) == [500_000] * 10

"""The law under random batches: the oracle is Spark batch on the rows handed in, after every step."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headwater.runtime import compaction
from headwater.spark import engine, frames, inputs
from headwater.tables import lookup, slices, small_runs
from tests.stories.story import Block
from tests.stories.telling import Teller

SCRIPT = """
CREATE TABLE a (id INT, k INT, s STRING, x DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'values');
CREATE TABLE b (k INT, n INT) WITH ('connector' = 'values');
CREATE VIEW joined AS SELECT a.id, a.s, b.n FROM a JOIN b ON a.k = b.k WHERE a.x > 0 OR b.n IS NULL;
CREATE VIEW sums AS SELECT s, SUM(x) AS x, COUNT(k) AS k, AVG(k) AS avg_k FROM a GROUP BY s;
CREATE VIEW ends AS SELECT a.s, MIN(b.n) AS low, MAX(a.x) AS high FROM a JOIN b ON a.k = b.k GROUP BY a.s;
CREATE VIEW pairs AS SELECT p.n AS p, q.n AS q FROM b p JOIN b q ON p.k = q.k AND p.n < q.n;
CREATE VIEW seen AS SELECT DISTINCT k, n FROM b;
CREATE VIEW by_sum AS SELECT x, COUNT(*) AS n FROM (SELECT k, SUM(n) AS x FROM b GROUP BY k) t GROUP BY x;
CREATE VIEW both_keys AS SELECT k FROM a UNION ALL SELECT k FROM b WHERE n > 1;
CREATE VIEW nested AS SELECT s.s, s.x, e.high FROM sums s JOIN ends e ON s.s = e.s;
"""


@pytest.mark.parametrize(
    ("seed", "size"),
    [(1, "small"), (2, "small"), (3, "cut by Arrow"), (4, "read by Spark"), (5, "looked up")],
)
def test_every_view_equals_its_query_after_every_random_batch(
    seed: int, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if size == "looked up":
        monkeypatch.setattr(lookup, "LEAST_ROWS", 0)
        monkeypatch.setattr(lookup, "PART_ROWS", 2)
        monkeypatch.setattr(slices, "LOOKED_UP_SHARE", 0)
        monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
        monkeypatch.setattr(compaction, "MOST_RUNS", 2)
    elif size != "small":
        # Everything is too large to be handed to Spark from memory.
        monkeypatch.setattr(inputs, "LOCAL_ROWS", 0)
        monkeypatch.setattr(inputs, "SMALL_ROWS", 1)
        monkeypatch.setattr(engine, "SMALL_ROWS", 1)
        monkeypatch.setattr(engine, "LEAST_NARROWED", 0)
        monkeypatch.setattr(small_runs, "SMALL_RUN_ROWS", 0)
        monkeypatch.setattr(compaction, "SMALL_ROWS", 0)
        monkeypatch.setattr(compaction, "MOST_RUNS", 1)
        monkeypatch.setattr(frames, "MOST_GONE_SHARE", 1.0)
    if size == "read by Spark":
        monkeypatch.setattr(slices, "MOST_KEYS", 0)
    dice = random.Random(seed)
    teller = Teller("as written", tmp_path / "state", name=f"random{seed}")
    teller.take(Block(">", SCRIPT, (), 1, 1))
    rows: dict[int, str] = {}
    others: list[str] = []
    for _ in range(4 if size in ("small", "looked up") else 2):
        teller.take(Block("$", "change a", ("op | id | k | s | x", *_keyed(dice, rows)), 1, 1))
        teller.take(Block("$", "change b", ("op | k | n", *_bag(dice, others)), 1, 1))
        teller.take(Block("$", "step", (), 1, 1))
    assert teller.moved > 15
    teller.close()


def _keyed(dice: random.Random, rows: dict[int, str]) -> list[str]:
    """Inserts, updates and deletes of whole rows by key."""
    lines = []
    for _ in range(dice.randrange(8)):
        key = dice.randrange(12)
        before = rows.pop(key, None)
        if before is not None:
            lines.append(f"- | {before}")
        if before is None or dice.random() < 0.6:
            x = dice.choice(["NULL", "0.1", "-2.5", "1e17", "3"])
            rows[key] = (
                f"{key} | {dice.choice(['NULL', '1', '2', '3'])} | {dice.choice(['NULL', 'u', 'v'])} | {x}"
            )
            lines.append(f"+ | {rows[key]}")
    return lines


def _bag(dice: random.Random, rows: list[str]) -> list[str]:
    """Inserts and deletes of rows that may repeat."""
    lines = []
    for _ in range(dice.randrange(6)):
        if rows and dice.random() < 0.4:
            lines.append(f"- | {rows.pop(dice.randrange(len(rows)))}")
        else:
            rows.append(f"{dice.choice(['NULL', '1', '2', '3'])} | {dice.choice(['NULL', '1', '2', '3'])}")
            lines.append(f"+ | {rows[-1]}")
    return lines

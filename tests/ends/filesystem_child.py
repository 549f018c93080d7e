"""A process whose children write batches and are killed, at every call that reaches the disk and at random.

    filesystem_child.py KIND PATH

Prints how many children were killed. After each kill it looks at what a reader finds.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headwater.changes.change_set import ChangeSet
from headwater.sinks.base import SinkTable
from tests.ends.filesystem_world import Row, bag_of, opened, table_of
from tests.ends.postgres_world import changes, schema

BATCHES = 2
ROWS = schema("id int, text string")


def table(kind: str, path: Path) -> SinkTable:
    """What is written: lines, files or a state."""
    match kind:
        case "growing":
            return table_of(path, ROWS, append_only=True, format="csv")
        case "folder":
            return table_of(f"{path}/", ROWS, append_only=True, format="parquet")
        case _:
            form = kind.removeprefix("snapshot-")
            return table_of(path, ROWS, format=form, sink__mode="snapshot")


def batch(of: SinkTable, batch_id: int) -> ChangeSet:
    """Ten rows come; where rows can go, one of the batch before goes."""
    come = [(1, batch_id * 10 + number, "two\nlines" * number) for number in range(10)]
    gone = [(-1, (batch_id - 1) * 10 + 3, "two\nlines" * 3)] if not of.append_only and batch_id > 1 else []
    return changes(of, *come, *gone)


def state(of: SinkTable, upto: int) -> Counter[Row]:
    """The rows after so many batches."""
    bag: Counter[Row] = Counter()
    for batch_id in range(1, upto + 1):
        for row in batch(of, batch_id).table().to_pylist():
            bag[row["id"], row["text"]] += row["__hw_weight"]
    return +bag


def seen(kind: str, path: Path) -> Counter[Row]:
    """What a reader finds; of a file that grows only what is noted, since the rest will be cut off."""
    if kind == "folder":
        return sum((bag_of(file, "parquet") for file in path.glob("batch-*")), Counter[Row]())
    if kind == "growing":
        note = path.with_name(f".{path.name}.headwater")
        length = json.loads(note.read_text())["length"] if note.exists() else 0
        whole, path = path.read_bytes()[:length] if length else b"", path.with_name("noted")
        path.write_bytes(whole)
    found = bag_of(path, kind.removeprefix("snapshot-")) if path.exists() else Counter[Row]()
    return Counter({(int(str(row[0])), row[1]): count for row, count in found.items()})


def killing(point: int) -> None:
    """Die before the call of that number among those that reach the disk.

    Whoever is only killed keeps what the system holds in memory, so nothing has to reach the disk for it.
    """
    passed = itertools.count(1)

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def maybe(*given: Any, **named: Any) -> Any:
            if next(passed) == point:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)

        return maybe

    os.fsync, os.replace = dying(lambda descriptor: None), dying(os.replace)


def write_all(of: SinkTable) -> None:
    """Write on from the last batch, and that one again."""
    sink = opened(of)
    for batch_id in range(max(1, sink.last_batch() or 1), BATCHES + 1):
        sink.write([batch(of, batch_id)], batch_id)


def run(of: SinkTable, *, point: int, patience: float | None) -> bool:
    """One child; True if it was killed."""
    pid = os.fork()
    if pid == 0:
        killing(point)
        write_all(of)
        os._exit(0)
    if patience is not None:
        time.sleep(patience)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return os.WIFSIGNALED(status)


def main(kind: str, path: Path) -> None:
    """Kill at each point, each time from nothing, and see that what follows is whole."""
    chance, kills = random.Random(kind), 0
    states = [state(table(kind, path), upto) for upto in range(BATCHES + 1)]
    for point in itertools.count(1):
        here = path / str(point)
        here.parent.mkdir(parents=True, exist_ok=True)
        was_killed = run(table(kind, here), point=point, patience=None)
        kills += was_killed
        assert seen(kind, here) in states, point
        kills += run(table(kind, here), point=0, patience=chance.random() / 100)
        assert seen(kind, here) in states, point
        run(table(kind, here), point=0, patience=None)
        assert seen(kind, here) == states[BATCHES], point
        assert kind != "growing" or here.read_bytes() == here.with_name("noted").read_bytes(), point
        if not was_killed:
            break
    print(kills)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

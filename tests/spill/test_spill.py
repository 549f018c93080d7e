"""Three gigabytes of State on a heap of one: every answer is right, and memory stays small.

Oracle: arithmetic. What the views hold follows from the numbers of the rows alone; and VERIFY, which computes all of it
from nothing on the same heap.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headwater
from headwater.services.java import java_home
from headwater.sources.values import STORES, ValuesStore

GIB = 1 << 30
ROWS, DEVICES, OWNERS = 5_500_000, 5_000, 20

MOST_RESIDENT = 2.5 * GIB

SCRIPT = f"""
CREATE TABLE readings (id BIGINT, payload BINARY) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000000', 'fields.payload.length' = '400',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{ROWS - 1}');
CREATE TABLE owners (device BIGINT, owner STRING, PRIMARY KEY (device) NOT ENFORCED)
  WITH ('connector' = 'values', 'name' = 'spill');
CREATE VIEW kept AS SELECT id, id % {DEVICES} AS device, payload FROM readings WHERE id % 3 <> 0;
CREATE VIEW by_device AS SELECT device, COUNT(*) AS n, SUM(id) AS total FROM kept GROUP BY device;
CREATE VIEW by_owner AS
  SELECT o.owner, COUNT(*) AS n, SUM(k.id) AS total
  FROM kept k JOIN owners o ON k.device = o.device GROUP BY o.owner;
"""

Sums = dict[object, tuple[int, ...]]


@dataclass
class Watch:
    """The most memory that Python and Java have had at one moment."""

    java: int
    most: int = 0

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look until the block ends."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(0.1):
                self.most = max(self.most, resident(os.getpid()) + resident(self.java))

        thread = threading.Thread(target=look, name="watch")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def resident(pid: int) -> int:
    """The bytes of a process that are in memory, files that it has mapped included."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def expected(groups: Callable[[int], object]) -> Sums:
    """How many ids each group has, and their sum, in plain Python."""
    counts, totals = Counter[object](), Counter[object]()
    for id in range(ROWS):
        if id % 3:
            group = groups(id % DEVICES)
            counts[group] += 1
            totals[group] += id
    return {group: (counts[group], totals[group]) for group in counts}


def held(shop: headwater.Headwater, view: str) -> Sums:
    """The rows of a view by their first column."""
    return {row[0]: tuple(row[1:]) for row in shop.table(view).collect()}


@pytest.mark.jvm
@pytest.mark.timeout(3600)
def test_a_state_larger_than_memory_gives_the_same_answers(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    os.environ["JAVA_HOME"] = str(java_home())
    spark = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g").getOrCreate()
    java = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]  # it runs
    heap = int(spark._jvm.java.lang.Runtime.getRuntime().maxMemory())  # type: ignore[union-attr]  # it runs
    assert heap <= GIB
    owners = {device: f"owner {device % OWNERS}" for device in range(DEVICES)}
    STORES["spill"] = ValuesStore()
    STORES["spill"].append({"owners": [("+", {"device": d, "owner": o}) for d, o in owners.items()]})
    watch = Watch(java)
    with watch.looking():
        shop = headwater.open(tmp_path / "state", spark=spark)
        shop.sql(SCRIPT)
        shop.run(once=True)
        # Devices change hands, one owner goes with all of his: what they read is found among millions of rows.
        for device in range(0, DEVICES, 500):
            STORES["spill"].append({"owners": [("u", {"device": device, "owner": "somebody else"})]})
            owners[device] = "somebody else"
        shop.run(once=True)
        shop.close()
        shop = headwater.open(tmp_path / "state", spark=spark)
        shop.sql(SCRIPT)
        gone = [device for device, owner in owners.items() if owner == "owner 7"]
        STORES["spill"].append({"owners": [("d", {"device": device}) for device in gone]})
        shop.run(once=True)
        verified = [shop.sql(f"VERIFY {view}") for view in ("by_device", "by_owner")]
        by_device, by_owner = held(shop, "by_device"), held(shop, "by_owner")
        shop.close()
    size = sum(file.stat().st_size for file in (tmp_path / "state").rglob("*.parquet"))
    told = f"{size / GIB:.2f} GiB of State, heap {heap / GIB:.2f} GiB, resident {watch.most / GIB:.2f} GiB"
    record_property("told", told)
    assert all(str(answer).startswith("equal: ") for answer in verified), verified
    assert by_device == expected(lambda device: device)
    assert by_owner == {o: sums for o, sums in expected(lambda d: owners[d]).items() if o != "owner 7"}
    assert size >= 3 * GIB, told
    assert watch.most < MOST_RESIDENT, told

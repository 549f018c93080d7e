"""make soak: an hour of mixed load with kills; then every row is compared, and memory and the server's log were flat.

    make soak                        # an hour
    make soak ARGS="--minutes 10"

The bank of `bank.py`, at work all the while. Somebody dies every few seconds: capture, its connection, the line, and in
the first half the whole pipeline too, every other minute. In the second half the pipeline lives, and what it holds in
memory, what its capture holds and what the server keeps of its log for us are looked at once a second.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from headwater.services.postgres import temporary_postgres
from tests.faults.bank import OF_CAPTURE, Bank, bank
from tests.faults.star import children
from tests.pipeline.world import made_database

OFTEN = ("capture", "backend", "line", *OF_CAPTURE)

MEMORY_GROWTH = 1.2
"""The last quarter of the time that is looked at may hold so much more than the first quarter."""

LOG_BYTES = 256 << 20
"""The server never keeps more of its log for us."""


@dataclass
class Looks:
    """What was seen once a second."""

    memory: list[int] = field(default_factory=list)
    """Of the pipeline with its Java, in bytes."""
    log: list[int] = field(default_factory=list)
    """What the server keeps."""

    def growth(self) -> float:
        """The middle of the last quarter of memory beside that of the first."""
        quarter = len(self.memory) // 4
        return statistics.median(self.memory[-quarter:]) / statistics.median(self.memory[:quarter])


def main() -> int:
    """Run, tell, and fail if something grew or was not true."""
    asked = argparse.ArgumentParser(prog="make soak ARGS=...", description=__doc__.splitlines()[0])
    asked.add_argument("--minutes", type=float, default=60.0)
    asked.add_argument("--seed", default=str(secrets.randbelow(10**9)), help="what everything is drawn from")
    given = asked.parse_args()
    print(f"seed {given.seed}", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        temporary_postgres({"fsync": "off"}) as server,
        made_database(server) as source,
        made_database(server) as target,
        bank(Path(folder), source, target) as found,
    ):
        died, looks, last = soaked(found, random.Random(given.seed), given.minutes * 60)
    print(f"died: {dict(died)}; books looked at {found.audits.total()} times; {last} batches")
    print(
        f"memory {min(looks.memory) >> 20} to {max(looks.memory) >> 20} MB, last quarter {looks.growth():.2f} of first"
    )
    print(f"the server kept at most {max(looks.log) >> 20} MB of its log")
    assert set(found.audits) == {(0, 0, 0, 0, 0)}, found.audits
    assert looks.growth() <= MEMORY_GROWTH
    assert max(looks.log) <= LOG_BYTES
    return 0


def soaked(found: Bank, dice: random.Random, seconds: float) -> tuple[Counter[str], Looks, int]:
    """So long a time with the bank; who died, what was seen in the second half, and the last batch."""
    died: Counter[str] = Counter()
    looks = Looks()
    begin = time.monotonic()
    found.start()
    with found.auditor():
        found.transact(dice, least=1000)
        found.become_equal()
        last_start = begin
        while (now := time.monotonic()) < begin + seconds:
            found.transact(dice)
            is_first_half = now < begin + seconds / 2
            if is_first_half and now > last_start + 120:
                last_start, who = now, "pipeline"
            elif dice.random() < 0.1:
                who = dice.choice(OFTEN)
            else:
                who = ""
            if who:
                found.kill(who, dice)
                died[who] += 1
            if not is_first_half:
                look(found, looks)
            time.sleep(dice.random())
        found.become_equal()
    return died, looks, found.batch()


def look(found: Bank, looks: Looks) -> None:
    """What everyone holds now."""
    assert found.running is not None
    pids = [found.running.pid, *children(found.running.pid, "java")]
    looks.memory.append(sum(resident(pid) for pid in pids))
    kept = found.source.run(
        "SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint"
        " FROM pg_replication_slots WHERE database = current_database()"
    )
    looks.log.append(int(kept[0][0]))


def resident(pid: int) -> int:
    """The bytes a process has in memory."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())

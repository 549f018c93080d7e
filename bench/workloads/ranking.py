"""W3, a view on a view: each member with the claims there are or with none, and the ten dearest members of a company."""

from __future__ import annotations

import random

from bench import legs
from bench.contender import Job, Table
from bench.course import Course
from bench.workloads.claims import (
    CLAIMS,
    COMPANIES,
    INT,
    LONG,
    MANY,
    MEMBERS,
    MOVED,
    PIECE,
    TEXT,
    Claims,
    moved,
)

RANKED = Table(
    "ranked",
    {"company": TEXT, "place": LONG, "member_id": INT, "total": LONG, "claims": LONG},
    ("company", "place"),
)
JOB = Job(
    "ranking",
    (MEMBERS, CLAIMS),
    RANKED,
    # ROW_NUMBER is a BIGINT in Flink and in Postgres, and an INT in Spark.
    "SELECT company, CAST(place AS BIGINT) AS place, member_id, total, claims FROM ("
    "SELECT company, member_id, total, claims, "
    "ROW_NUMBER() OVER (PARTITION BY company ORDER BY total DESC, member_id) AS place FROM burdens) r WHERE place <= 10",
    {
        "burdens": "SELECT m.id AS member_id, m.company, "
        "COALESCE(SUM(CAST(c.total AS BIGINT)), CAST(0 AS BIGINT)) AS total, "
        "COUNT(c.id) AS claims FROM members m LEFT JOIN claims c ON c.member_id = m.id GROUP BY m.id, m.company"
    },
)


def course(size: int) -> Course:
    """The whole of W3 over so many claims; some members have none."""
    of, dice = Claims(size), random.Random(1)
    kept, half = range(of.changes * 2 // 5, of.claims), of.changes // PIECE
    idle = of.members // 10
    return Course(
        workload="W3",
        job=JOB,
        filled=f"{of.filled()}; INSERT INTO members SELECT n, 'company ' || n % {COMPANIES} "
        f"FROM generate_series({of.members}, {of.members + idle - 1}) n",
        rows=of.claims + of.members + idle,
        changes=of.changes,
        parts={
            "first load": (),
            # The first one of its member, who is the dearest of the company from now on.
            "1 claim comes": (
                f"INSERT INTO claims VALUES (-1, {of.members}, 'animal 0', 'OPEN', 1000000000)",
            ),
            "1 claim goes": ("DELETE FROM claims WHERE id = -1",),
            MANY: (moved(1, MOVED),),
            "while running": tuple(of.mixed(dice, n, kept) for n in range(half)),
            "backlog": tuple(of.mixed(dice, n, kept) for n in range(half, 2 * half)),
        },
        legs=(
            ("1 claim comes", legs.single("1 claim comes")),
            ("1 claim goes", legs.single("1 claim goes")),
            (MANY, legs.single(MANY)),
            ("while running", legs.running("while running")),
            ("backlog", legs.backlog("backlog")),
        ),
    )

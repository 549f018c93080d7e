"""W1, the claims join, and W5, the same over Kafka: tables, query and changes, the same for every contender."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench import legs
from bench.contender import Job, Table
from bench.course import Course
from bench.ways import Way

INT, LONG, TEXT = ("INT", "INT"), ("BIGINT", "BIGINT"), ("TEXT", "STRING")
MEMBERS = Table("members", {"id": INT, "company": TEXT}, ("id",))
CLAIMS = Table("claims", {"id": INT, "member_id": INT, "animal": TEXT, "status": TEXT, "total": INT}, ("id",))
COSTS = Table(
    "costs", {"company": TEXT, "animal": TEXT, "total": LONG, "claims": LONG}, ("company", "animal")
)
JOB = Job(
    "claims",
    (MEMBERS, CLAIMS),
    COSTS,
    "SELECT m.company, c.animal, SUM(CAST(c.total AS BIGINT)) AS total, COUNT(*) AS claims "
    "FROM claims c JOIN members m ON c.member_id = m.id GROUP BY m.company, c.animal",
)
COMPANIES, ANIMALS = 50, 30
PIECE = 1_000
"""Changes of a transaction where many are made."""

COMMITS, WARM, TRANSFERS, MOVED = 60, 40, 300, 1_000

ONE, MANY = "1 member moves", f"{MOVED:,} members move"

Transaction = str


@dataclass(frozen=True)
class Claims:
    """So many claims; members, changes and all else follow from it."""

    claims: int

    @property
    def members(self) -> int:
        """Twenty claims each."""
        return max(MOVED, self.claims // 20)

    @property
    def changes(self) -> int:
        """A quarter of the claims, in whole transactions."""
        return self.claims // 4 // PIECE * PIECE

    def filled(self) -> str:
        """The statements that make the first rows; all pairs of a company and an animal come about."""
        return f"""
            INSERT INTO members SELECT n, 'company ' || n % {COMPANIES} FROM generate_series(0, {self.members - 1}) n;
            INSERT INTO claims SELECT n, (hashint4(n) & 2147483647) % {self.members}, 'animal ' || n % {ANIMALS}, 'OPEN',
            n % 1000 FROM generate_series(0, {self.claims - 1}) n"""

    def parts(self) -> Mapping[str, tuple[Transaction, ...]]:
        """All changes, in the order in which they are made."""
        dice = random.Random(1)
        old = self.changes * 2 // 5
        kept = range(old, self.claims)
        half = self.changes // PIECE
        return {
            "first load": (),
            "warm": tuple(dearer(dice.choice(kept)) for _ in range(WARM)),
            "commits": tuple(dearer(dice.choice(kept)) for _ in range(COMMITS)),
            ONE: (moved(0, 1),),
            MANY: (moved(1, MOVED),),
            "transfers": tuple(transfer(dice, kept) for _ in range(TRANSFERS)),
            "while running": tuple(self.mixed(dice, n, kept) for n in range(half)),
            "backlog": tuple(self.mixed(dice, n, kept) for n in range(half, 2 * half)),
        }

    def mixed(self, dice: random.Random, number: int, kept: range) -> Transaction:
        """A transaction of a fifth inserts, a fifth deletes, the rest updates, a sixth of which go to another member."""
        come = go = PIECE // 5
        first = self.claims + number * come
        picked = dice.sample(kept, PIECE - come - go)
        movers = len(picked) // 6
        return f"""
            INSERT INTO claims SELECT n, (hashint4(n) & 2147483647) % {self.members}, 'animal ' || n % {ANIMALS}, 'OPEN',
            n % 1000 FROM generate_series({first}, {first + come - 1}) n;
            DELETE FROM claims WHERE id BETWEEN {number * go} AND {(number + 1) * go - 1};
            UPDATE claims SET total = total + 1 + id % 7, status = 'PAID' WHERE id IN {tuple(picked[movers:])};
            UPDATE claims SET member_id = (member_id + 7) % {self.members} WHERE id IN {tuple(picked[:movers])}"""


def dearer(claim: int) -> Transaction:
    """A claim that costs one more: by the sum of all totals it is seen when this has arrived."""
    return f"UPDATE claims SET total = total + 1 WHERE id = {claim}"


def moved(first: int, count: int) -> Transaction:
    """Members who go to another company, with all their claims."""
    return (
        f"UPDATE members SET company = 'company ' || (id + 1) % {COMPANIES} "
        f"WHERE id BETWEEN {first} AND {first + count - 1}"
    )


def transfer(dice: random.Random, kept: range) -> Transaction:
    """Money that goes from a claim to one of another animal: the sum of all totals stays."""
    giver, taker = dice.sample(kept, 2)
    while giver % ANIMALS == taker % ANIMALS:
        taker = dice.choice(kept)
    return (
        f"UPDATE claims SET total = total - 7 WHERE id = {giver};"
        f"UPDATE claims SET total = total + 7 WHERE id = {taker}"
    )


def course(size: int) -> Course:
    """The whole of W1 over so many claims."""
    of = Claims(size)
    total = f"SELECT coalesce(sum(total), 0)::bigint FROM {COSTS.name}"
    return Course(
        workload="W1",
        job=JOB,
        filled=of.filled(),
        rows=of.claims + of.members,
        changes=of.changes,
        parts=of.parts(),
        legs=(
            ("commits", legs.commits("warm", "commits", total)),
            (ONE, legs.single(ONE)),
            (MANY, legs.single(MANY)),
            ("transfers", legs.transfers("transfers", total)),
            ("while running", legs.running("while running")),
            ("backlog", legs.backlog("backlog")),
        ),
    )


def over_kafka(size: int) -> Course:
    """The whole of W5: the same, told by Debezium."""
    return replace(course(size), workload="W5", way=Way.TOPICS)

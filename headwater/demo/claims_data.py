"""The claims tables and their first rows, made up from a seed."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from typing import Any

MEMBERS, CLAIMS = 500, 1000
SEED = 20200801

COMPANIES = ("Insurance Australia Group", "QBE", "Suncorp Group", "Allianz")
ANIMALS = (
    "Blue Ringed Octopus",
    "Box Jellyfish",
    "Cassowary",
    "Funnel Web Spider",
    "Great White Shark",
    "Inland Taipan Snake",
    "Saltwater Crocodile",
)
STATUSES = ("INITIAL", "IN REVIEW", "REIMBURSED", "DENIED")
STATUS_WEIGHTS = (30, 25, 25, 20)
TYPES = ("Light Injury", "Collision", "Permanent Injury", "Death")
CURRENCIES = ("EUR", "AUD", "USD")

_FIRST = (
    "Alba",
    "Bruno",
    "Carla",
    "Dario",
    "Edda",
    "Felix",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Lars",
)
_LAST = (
    "Archer",
    "Brandt",
    "Castle",
    "Dunmore",
    "Ellery",
    "Foss",
    "Garnet",
    "Holm",
    "Ibsen",
    "Jarvis",
    "Keel",
)
_STREETS = ("Wharf Street", "Station Road", "Banksia Avenue", "Harbour Lane", "Wattle Grove", "Mill Terrace")
_CITIES = ("Adelaide", "Brisbane", "Cairns", "Canberra", "Darwin", "Geelong", "Hobart", "Melbourne", "Perth")
_RECEIPTS = ("invoice", "hospital", "workshop", "pharmacy", "transport")

DDL = """
CREATE SCHEMA IF NOT EXISTS claims;
CREATE TABLE IF NOT EXISTS claims.members (
    id int PRIMARY KEY,
    first_name varchar(50),
    last_name varchar(50),
    address varchar(50),
    address_city varchar(10),
    address_country varchar(10),
    insurance_company varchar(25),
    insurance_number varchar(50),
    ts_created varchar(20) DEFAULT to_char(now(), 'YYYY-MM-DD HH24:MI:SS'),
    ts_updated varchar(20) DEFAULT to_char(now(), 'YYYY-MM-DD HH24:MI:SS')
);
CREATE TABLE IF NOT EXISTS claims.accident_claims (
    claim_id serial PRIMARY KEY,
    claim_total float,
    claim_total_receipt varchar(50),
    claim_currency varchar(3),
    member_id int REFERENCES claims.members (id) ON DELETE SET NULL,
    accident_date varchar(20),
    accident_type varchar(20),
    accident_detail varchar(20),
    claim_date varchar(20),
    claim_status varchar(10),
    ts_created varchar(20) DEFAULT to_char(now(), 'YYYY-MM-DD HH24:MI:SS'),
    ts_updated varchar(20) DEFAULT to_char(now(), 'YYYY-MM-DD HH24:MI:SS')
);
ALTER TABLE claims.members REPLICA IDENTITY FULL;
ALTER TABLE claims.accident_claims REPLICA IDENTITY FULL;
"""

INSERT_MEMBERS = """
INSERT INTO claims.members (
    id, first_name, last_name, address, address_city, address_country, insurance_company, insurance_number
) VALUES %s
"""

INSERT_CLAIMS = """
INSERT INTO claims.accident_claims (
    claim_total, claim_total_receipt, claim_currency, member_id, accident_date, accident_type,
    accident_detail, claim_date, claim_status
) VALUES %s
"""

# A claim is picked by a place between the first and the last id, which an index answers at any size.
SET_STATUS = """
UPDATE claims.accident_claims
SET claim_status = %(status)s, ts_updated = to_char(now(), 'YYYY-MM-DD HH24:MI:SS')
WHERE claim_id = (
    SELECT min(claim_id) FROM claims.accident_claims WHERE claim_id >= (
        SELECT min(claim_id) + floor(%(luck)s * (max(claim_id) - min(claim_id))) FROM claims.accident_claims
    )
)
"""

SET_TOTAL = """
UPDATE claims.accident_claims
SET claim_total = %(total)s, ts_updated = to_char(now(), 'YYYY-MM-DD HH24:MI:SS')
WHERE claim_id = (
    SELECT min(claim_id) FROM claims.accident_claims WHERE claim_id >= (
        SELECT min(claim_id) + floor(%(luck)s * (max(claim_id) - min(claim_id))) FROM claims.accident_claims
    )
)
"""

DELETE_CLAIM = """
DELETE FROM claims.accident_claims
WHERE claim_id = (
    SELECT min(claim_id) FROM claims.accident_claims WHERE claim_id >= (
        SELECT min(claim_id) + floor(%(luck)s * (max(claim_id) - min(claim_id))) FROM claims.accident_claims
    )
)
"""

SET_COMPANY = """
UPDATE claims.members
SET insurance_company = %(company)s, ts_updated = to_char(now(), 'YYYY-MM-DD HH24:MI:SS')
WHERE id = %(member)s
"""


def first_members(seed: int = SEED) -> Iterator[tuple[Any, ...]]:
    """The rows of `claims.members`, always the same for one seed."""
    dice = random.Random(seed)
    for number in range(1, MEMBERS + 1):
        yield (
            number,
            dice.choice(_FIRST),
            dice.choice(_LAST),
            f"{dice.randint(1, 240)} {dice.choice(_STREETS)}",
            dice.choice(_CITIES),
            "Australia",
            dice.choice(COMPANIES),
            f"{dice.randint(10**9, 10**10 - 1)}",
        )


def first_claims(seed: int = SEED) -> Iterator[tuple[Any, ...]]:
    """The first rows of `claims.accident_claims`, always the same for one seed."""
    dice = random.Random(seed + 1)
    members = range(1, MEMBERS + 1)
    for _ in range(CLAIMS):
        yield claim(dice, members, status=dice.choices(STATUSES, STATUS_WEIGHTS)[0])


def claim(dice: random.Random, members: Sequence[int], *, status: str) -> tuple[Any, ...]:
    """One claim, in the order of `INSERT_CLAIMS`; two in five have no receipt yet."""
    happened = datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=dice.randrange(200 * 86_400))
    claimed = happened + datetime.timedelta(seconds=dice.randrange(1, 30 * 86_400))
    receipt = f"{dice.choice(_RECEIPTS)}-{dice.randrange(10**6):06}.pdf" if dice.random() < 0.6 else None
    return (
        float(total(dice)),
        receipt,
        dice.choice(CURRENCIES),
        dice.choice(members) if members else None,
        str(happened),
        dice.choice(TYPES),
        dice.choice(ANIMALS),
        str(claimed),
        status,
    )


def total(dice: random.Random) -> int:
    """What a claim is about: whole amounts, so that their sums are exact."""
    return dice.randint(1, 200) * 50

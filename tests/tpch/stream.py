"""The refresh stream: transactions on the tables of TPC-H, the same for one seed, and what the tables hold after each.

    for step in stream(read_data(folder), seed=7):
        store.append(step.changes)
        ...                            # compare with the queries run on step.rows

A benchmark asks for steps of its own, at scales where no days matter more than others:

    stream(rows, seed=7, steps=[refresh(rows, share=0.001, customers=100)] * 5, season=None)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

from tests.tpch.draft import Changes, Draft
from tests.tpch.edits import (
    SEASON,
    Amend,
    Cancel,
    Delete,
    Edit,
    Insert,
    Restore,
    Scene,
    Sell,
    Swap,
    Triple,
    Write,
    write,
)
from tests.tpch.tables import Rows

LINES = Amend(
    "lineitem",
    200,
    "l_partkey l_suppkey l_quantity l_discount l_returnflag "
    "l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode",
)
ORDERS = Amend("orders", 80, "o_orderdate o_orderpriority o_orderstatus o_custkey o_comment")
PARTS = Amend("part", 40, "p_brand p_type p_size p_container p_name")
STOCK = Amend("partsupp", 60, "ps_availqty ps_supplycost")
SUPPLIERS = Amend("supplier", 10, "s_nationkey s_acctbal s_address s_phone")
CUSTOMERS = Amend("customer", 60, "c_acctbal c_mktsegment c_nationkey c_phone")

EVERYTHING: tuple[Edit, ...] = (
    *(LINES, ORDERS, PARTS, STOCK, SUPPLIERS, CUSTOMERS),
    Amend("nation", 1, "n_regionkey"),
    Swap("region", "r_comment"),
)
"""Something of every table."""

STEPS: tuple[tuple[Edit, ...], ...] = (
    (Sell(60),),
    (Cancel(40), Delete("orders", 10), Delete("lineitem", 80)),
    (LINES, ORDERS, Triple("lineitem", 100, "l_extendedprice"), Triple("orders", 60, "o_totalprice")),
    (CUSTOMERS, Delete("customer", 6), Insert("customer", 12)),
    (PARTS, STOCK, Delete("part", 5), Delete("partsupp", 20), Insert("part", 8), Insert("partsupp", 40)),
    (
        SUPPLIERS,
        Write("supplier", 3, "s_comment", "no Customer of ours had Complaints"),
        *(Delete("supplier", 2), Insert("supplier", 4)),
    ),
    (Amend("nation", 2, "n_regionkey"), Delete("nation", 1), Insert("nation", 1), Delete("region", 1)),
    EVERYTHING,
    (
        *(Restore("region", 5), Restore("nation", 25), Restore("supplier", 5)),
        *(
            Sell(60),
            Cancel(40),
            Triple("lineitem", 100, "l_extendedprice l_quantity"),
            Insert("lineitem", 30),
        ),
        Triple("orders", 40, "o_totalprice"),
    ),
    (
        *(STOCK, SUPPLIERS, Swap("region", "r_name"), Swap("nation", "n_name")),
        *(Triple("partsupp", 20, "ps_supplycost"), Triple("customer", 20, "c_acctbal")),
    ),
    (
        # The same rows may be edited twice here, and what goes may be what came.
        *(*EVERYTHING, *EVERYTHING, Sell(30), Cancel(30), Swap("region", "r_name"), Insert("region", 1)),
        *(Restore("orders", 20), Restore("lineitem", 40), Restore("customer", 3), Restore("part", 3)),
    ),
    (Triple("lineitem", 1, "l_quantity l_extendedprice"),),
)
"""Twelve steps that reach every table with inserts, updates and deletes; the last changes one row."""


@dataclass(frozen=True)
class Step:
    """One transaction, and what the tables hold after it."""

    changes: Changes
    rows: Rows


def stream(
    rows: Rows,
    seed: int | str,
    *,
    steps: Sequence[Sequence[Edit]] = STEPS,
    season: tuple[date, date] | None = SEASON,
) -> Iterator[Step]:
    """The transactions of a seed, one for each of the steps."""
    dice, scene = Random(seed), Scene(rows, season)
    for edits in steps:
        draft = Draft(rows, dice)
        for edit in edits:
            write(draft, edit, scene)
        rows = draft.rows
        yield Step(draft.changes(), rows)


def refresh(rows: Rows, *, share: float, customers: int) -> tuple[Edit, ...]:
    """A step in which a share of the orders come and as many go, with their lines, and customers are updated."""
    count = max(1, round(len(rows["orders"]) * share))
    return (Sell(count), Cancel(count), Amend("customer", customers, "c_acctbal c_mktsegment c_phone"))

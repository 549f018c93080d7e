"""By which of several equalities a join narrows what it reads. Oracle: how many rows each of them leaves, said below."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from headwater.incremental.block import Core
from headwater.incremental.rules.join import change_of_core
from headwater.plan.nodes import Item, Scan

KEYS = {
    "orders": ("ID",),
    "lines": ("id",),
    "customer": ("c_id",),
    "supplier": ("s_id",),
    "rows": ("tenant", "n"),
}


def narrowed(scans: list[str], on: str) -> dict[str, str]:
    """The column by which each relation is narrowed if the first one changes."""
    core = Core(
        tuple(Scan(name, name, ("id",)) for name in scans),
        tuple(parse_one(one) for one in on.split(" AND ")),
        (Item("id", exp.column("id", scans[0])),),
    )
    (term,) = change_of_core(core, {scans[0]}, KEYS)
    return {one.relation: one.restriction.column for one in term.inputs if one.restriction is not None}


@pytest.mark.parametrize(
    ("scans", "on", "column"),
    [
        # One order, or all with this status.
        (["lines", "orders"], "lines.of = orders.id AND lines.status = orders.status", "id"),
        (["orders", "lines"], "lines.of = orders.id AND lines.status = orders.status", "of"),
        # One row of a tenant, or all of them.
        (["notes", "rows"], "notes.tenant = rows.tenant AND notes.n = rows.n", "n"),
        (["notes", "others"], "notes.tenant = others.tenant AND notes.code = others.code", "code"),
        (["notes", "rows"], "notes.tenant = rows.tenant AND notes.code = rows.code", "code"),
    ],
)
def test_a_key_narrows_more_than_what_stands_beside_it(scans: list[str], on: str, column: str) -> None:
    assert narrowed(scans, on) == {scans[1]: column}


def test_a_customer_is_found_by_its_key_also_where_it_shares_a_nation_with_another() -> None:
    on = "orders.customer = customer.c_id AND orders.supplier = supplier.s_id AND customer.nation = supplier.nation"
    found = narrowed(["orders", "supplier", "customer"], on)
    assert found == {"supplier": "s_id", "customer": "c_id"}

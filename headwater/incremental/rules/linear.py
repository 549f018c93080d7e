"""Blocks without an aggregate: the change of a filter, projection, join or UNION ALL is the sum of its terms."""

from __future__ import annotations

from collections.abc import Collection

from headwater.incremental.block import Block
from headwater.incremental.change_plan import ChangePlan, Statement, Strategy, Version, change_view
from headwater.incremental.rules.join import Keys, Term, all_terms, change_of_core, term
from headwater.incremental.weights import consolidated


def strategy_of(block: Block) -> Strategy:
    """Linear if each core reads one scan, bilinear if one joins."""
    return Strategy.BILINEAR if any(len(core.scans) > 1 for core in block.cores) else Strategy.LINEAR


def change_terms(block: Block, changed: Collection[str], keys: Keys) -> list[Term]:
    """The terms of the change of all cores."""
    terms: list[Term] = []
    many = len(block.cores) > 1
    for core in block.cores:
        terms += change_of_core(core, changed, keys, number=len(terms) + 1 if many else 0)
    return terms


def whole_terms(block: Block, version: Version) -> list[Term]:
    """All cores over one version of everything."""
    return [
        term(core, [version] * len(core.scans), {}, suffix=f"_{i}" if i else "")
        for i, core in enumerate(block.cores)
    ]


def maintain(block: Block, changed: Collection[str], keys: Keys) -> ChangePlan:
    """The change plan for a step in which `changed` changed."""
    return _plan(block, change_terms(block, changed, keys))


def first(block: Block) -> ChangePlan:
    """The change plan that fills the block from nothing."""
    return _plan(block, whole_terms(block, Version.NEW))


def _plan(block: Block, terms: list[Term]) -> ChangePlan:
    rows, inputs = all_terms(terms)
    whole = consolidated(rows, block.columns)
    return ChangePlan(strategy_of(block), (Statement(change_view(block.name), whole, inputs),))

"""Every operator that is maintained: its strategy, the rule that makes its change plan, and what it does.

The table in the README is made from this list, and each operator has a page under docs/operators and a story under
tests/stories/operators of the same name.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.incremental.change_plan import Strategy


@dataclass(frozen=True)
class Operator:
    """One operator: `rule` is a module of `headwater.incremental.rules`."""

    name: str
    strategy: Strategy
    rule: str
    sentence: str


OPERATORS = (
    Operator("project", Strategy.LINEAR, "linear", "The expressions are computed on the changed rows alone."),
    Operator("filter", Strategy.LINEAR, "linear", "The condition is asked of the changed rows alone."),
    Operator("union", Strategy.LINEAR, "linear", "UNION ALL passes on the change of each part."),
    Operator(
        "join", Strategy.BILINEAR, "join", "The change of one side meets the other side's matching rows."
    ),
    Operator("aggregate", Strategy.LINEAR, "aggregate", "SUM, COUNT and AVG add the change to partial sums."),
    Operator(
        "minmax",
        Strategy.KEY_LOCAL,
        "key_local",
        "Any other aggregate is computed anew, touched groups only.",
    ),
    Operator(
        "distinct", Strategy.KEY_LOCAL, "aggregate", "Copies are counted; a row goes with the last of them."
    ),
    Operator(
        "outer-join",
        Strategy.KEY_LOCAL,
        "sliced",
        "The rows of the touched keys are joined anew, before and after.",
    ),
    Operator(
        "semi-join",
        Strategy.KEY_LOCAL,
        "sliced",
        "EXISTS and IN are asked anew of the rows of the touched keys.",
    ),
    Operator(
        "subquery",
        Strategy.KEY_LOCAL,
        "sliced",
        "A value from another query becomes a join with what that query gives.",
    ),
    Operator(
        "set-operation",
        Strategy.KEY_LOCAL,
        "sliced",
        "Touched rows are looked up on both sides, before and after.",
    ),
    Operator(
        "window",
        Strategy.KEY_LOCAL,
        "sliced",
        "The touched partitions are computed anew, before and after.",
    ),
    Operator(
        "top",
        Strategy.KEY_LOCAL,
        "top",
        "The first rows now are compared with the first rows before.",
    ),
    Operator(
        "generate",
        Strategy.KEY_LOCAL,
        "sliced",
        "EXPLODE and the like make their rows anew from touched rows only.",
    ),
    Operator(
        "grouping-sets",
        Strategy.KEY_LOCAL,
        "aggregate",
        "Each row counts once for each set; sums are added, as in any aggregate.",
    ),
    Operator(
        "recompute", Strategy.RECOMPUTE, "recompute", "Everything else runs again; only differences go on."
    ),
)

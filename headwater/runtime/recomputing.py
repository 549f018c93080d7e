"""SET 'headwater.recompute': what becomes of a view that can only be kept by computing it anew."""

from __future__ import annotations

from collections.abc import Iterable

from headwater.errors import SqlError
from headwater.options import read_options
from headwater.plan.reasons import Reason
from headwater.runtime.scope import Scope
from headwater.settings import Settings
from headwater.sql import statements as sql


def notes_on_recompute(
    scope: Scope, results: Iterable[str], settings: dict[str, str], statement: sql.Statement
) -> list[str]:
    """What is to be said of new results that are computed anew; an error if that is forbidden."""
    wanted = read_options(Settings, settings, owner="SET", place=statement.place).recompute
    if wanted == "allow":
        return []
    notes = []
    for name in results:
        for reason in dict.fromkeys(_reasons(scope, name)):
            if wanted == "forbid":
                raise SqlError(
                    f'"{name}" can only be kept by computing it anew, and that is forbidden',
                    detail=f"It has {reason}.",
                    hint="Write it in another way (docs/operators/recompute.md), or SET 'headwater.recompute' ="
                    " 'allow'.",
                    place=statement.place,
                )
            notes.append(f'"{name}" is computed anew whenever what it reads changes, because of {reason}')
    return notes


def _reasons(scope: Scope, name: str) -> Iterable[Reason]:
    for node in scope.results[name].nodes:
        opaque = scope.views[node].block.opaque
        if opaque is not None and opaque.reason is not None:
            yield opaque.reason

"""Tables and views by the names they have in an address."""

from __future__ import annotations

from headwater.server.read_only import Ambiguous, Names, Unknown
from headwater.server.reader import Held, Relation
from headwater.server.refusals import Conflict, Missing


def find_relation(held: Held, name: str) -> Relation:
    """The table or view of a name: `application.view`, or `view` if only one is called so."""
    try:
        return Names(held.relations()).find(name)
    except Ambiguous as problem:
        raise Conflict(
            problem.message, detail=problem.detail, hint=problem.hint, more={"choices": list(problem.choices)}
        ) from None
    except Unknown as problem:
        raise Missing(problem.message, hint=problem.hint) from None

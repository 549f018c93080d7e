"""Whether topics are still the ones that were read: deleted and made anew, one is another under the old name.

Places in the old topic mean nothing in the new one, also where that has grown beyond them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headwater.errors import SourceError
from headwater.sources.kafka.asking import Asking
from headwater.sources.kafka.ledger import Ledger, Vector

Properties = Mapping[str, str]


def check_same(
    ledger: Ledger, asking: Asking, topics: Mapping[str, Properties], *, new: Collection[str] = ()
) -> None:
    """See that no topic was made anew since its id was written down; ids not known yet are.

    `topics` are given with how to reach their cluster. Of those in `new` nothing that was read counts.
    """
    known = {name: text for name, text in ledger.ids().items() if name not in new}
    ways: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, properties in topics.items():
        ways.setdefault(frozenset(properties.items()), []).append(name)
    found: dict[str, str] = {}
    for way, names in ways.items():
        found |= asking.ids(dict(way), names)
    for name, text in found.items():
        if known.get(name, text) != text:
            raise _made_anew(name)
    first = {name: text for name, text in found.items() if name not in known}
    if first:
        ledger.keep_ids(first)


def topics_of(vector: Vector, properties: Mapping[str, Properties]) -> dict[str, Properties]:
    """The topics in which the places of a vector lie, and how to reach the cluster of each."""
    return {
        topic: properties[name]
        for name, places in vector.items()
        if name in properties
        for topic, _ in places
    }


def _made_anew(name: str) -> SourceError:
    return SourceError(
        f"topic '{name}' was deleted and made anew",
        detail="It has the name of the topic that was read, and another id: places in the old one mean nothing in it.",
        hint="Remove the state with headwater drop, or give another --state folder, and start again from what the new "
        "topic has.",
    )

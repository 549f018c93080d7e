"""What a step has for each sink."""

from __future__ import annotations

from headwater.changes.change_set import ChangeSet
from headwater.runtime.sink_keys import check_keys
from headwater.runtime.step import Step


def outgoing(step: Step, *, is_letting_go: bool) -> dict[str, list[ChangeSet]]:
    """The changes of each sink, by the names of its tables; two rows that want one key are an error."""
    found: dict[str, list[ChangeSet]] = {}
    for node in step.program.sinks:
        changes = step.changes.get(node.relation)
        if changes is None:
            continue
        if node.table.append_only and is_letting_go:
            # What was appended stays.
            continue
        check_keys(node, changes, step.new[node.relation], step.engine)
        named = ChangeSet(node.table.name, changes.schema, changes.parts)
        found.setdefault(node.sink, []).append(named)
    return found

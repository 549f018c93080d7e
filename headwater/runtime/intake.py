"""What deliveries bring to the tables of a pipeline: events and messages become changes of a step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from headwater.changes.change_set import ChangeSet
from headwater.errors import placed
from headwater.log.events import Delivery, Events, Messages
from headwater.log.letters import DEAD_LETTERS
from headwater.log.repeats import Marks, marks_from_json
from headwater.runtime.chronicle import Chronicle
from headwater.runtime.decode import Decoder
from headwater.runtime.program import TableNode
from headwater.runtime.progress import Progress
from headwater.runtime.step import Step
from headwater.runtime.stops import Stops
from headwater.spark.upsert import changes_by_key
from headwater.tables.blank import blanked_events
from headwater.tables.upsert import changes_of


@dataclass
class Intake:
    """Takes what the sources of one pipeline deliver."""

    progress: Progress
    stops: Stops
    chronicle: Chronicle
    decoder: Decoder

    def take(self, deliveries: Mapping[str, Delivery], step: Step) -> int:
        """Change the tables by all that was delivered; how many rows that were is the answer."""
        rows = 0
        parked: list[ChangeSet] = []
        tables = step.program.tables
        for delivery in deliveries.values():
            notation = delivery.position.notation
            for name, events in delivery.tables.items():
                if name == DEAD_LETTERS and name in tables:
                    parked.append(changes_of(events, step.old[name]))
                elif name in tables:
                    rows += events.count
                    self._take_events(name, events, step, notation)
            for name, messages in delivery.messages.items():
                rows += messages.count
                parked += self._take_messages(tables[name], messages, step, notation)
        for letters in parked[:1]:
            parts = tuple(part for one in parked for part in one.parts)
            step.take_table(ChangeSet(letters.relation, letters.schema, parts))
        return rows

    def _take_events(self, name: str, events: Events, step: Step, notation: str) -> None:
        """What a table's events change, and if somebody asks for it, what they did row by row."""
        events = blanked_events(events, self.stops.columns(name), step.engine.folder)
        changes = None
        if step.engine.pace.is_spread and events.rows is None and not events.whole_rows:
            changes = changes_by_key(step.engine, events, step.old[name])
        step.take_table(changes or changes_of(events, step.old[name]))
        self.chronicle.of_events(name, events, step, notation=notation)

    def _take_messages(
        self, table: TableNode, messages: Messages, step: Step, notation: str
    ) -> list[ChangeSet]:
        """Decode and take the messages of a table; what could not be read is the answer."""
        key = f"marks of {table.fingerprint}"
        # A table that is read anew begins without marks, also if an equal one left them before.
        kept = self.progress.text(key) if table.name in self.progress.relations else None
        marks = marks_from_json(json.loads(kept)) if kept is not None else Marks()
        with placed(table.table.place):
            decoded = self.decoder.decode(table, messages, marks)
        self._take_events(table.name, decoded.events, step, notation)
        if decoded.marks != marks:
            step.texts[key] = json.dumps(decoded.marks.to_json())
        return [] if decoded.parked is None else [decoded.parked]

"""The indices of a cluster: made with a mapping from the table, or checked against it."""

from __future__ import annotations

import json
from typing import Any

from headwater.errors import SinkError
from headwater.sinks.base import SinkTable
from headwater.sinks.search.client import quoted
from headwater.sinks.search.mapping import SETTINGS, conflicts, missing, properties
from headwater.sinks.search.patience import Patient
from headwater.sinks.search.troubles import refused


class Indices:
    """Which indices are known to hold the documents of which table."""

    def __init__(self, patient: Patient) -> None:
        self._patient = patient
        self._known: set[tuple[str, str]] = set()

    def ensure(self, table: SinkTable, index: str) -> None:
        """Make an index that does not exist; see that one that does can hold the table's rows."""
        if (table.name, index) in self._known:
            return
        if not self._check(table, index) and not self._made(table, index):
            # Somebody made it in between.
            self._check(table, index)
        self._known.add((table.name, index))

    def _check(self, table: SinkTable, index: str) -> bool:
        """False if there is no such index."""
        answer = self._patient.ask("GET", f"/{quoted(index)}/_mapping")
        if answer.status == 404:
            return False
        if not answer.good:
            raise refused(answer, f"index '{index}'", place=table.place)
        for found in answer.said.values():
            self._check_mapping(table, index, found.get("mappings", {}))
        return True

    def _check_mapping(self, table: SinkTable, index: str, mapping: dict[str, Any]) -> None:
        wanted, there = properties(table.schema), mapping.get("properties", {})
        for field, found, needed in conflicts(wanted, there):
            raise SinkError(
                f"field '{field}' of index '{index}' cannot hold what sink table '{table.name}' writes",
                detail=f"The index maps it to {found}, the column needs {needed}.",
                hint="Delete the index so that it is made anew, or reindex it with a fitting mapping, "
                "or CAST the column.",
                place=table.place,
            )
        new, dynamic = missing(wanted, there), str(mapping.get("dynamic", "true")).lower()
        if new and dynamic == "strict":
            raise SinkError(
                f"index '{index}' has no field '{next(iter(new))}' and takes no new ones",
                detail='Its mapping has "dynamic": "strict".',
                hint=f"Add the field to its mapping, or leave the column out of sink table '{table.name}'.",
                place=table.place,
            )
        if new and dynamic != "false":
            self._add(table, index, new)

    def _add(self, table: SinkTable, index: str, new: dict[str, Any]) -> None:
        """Map columns that an index does not know yet: left alone it would guess, and dates would become text."""
        answer = self._patient.ask("PUT", f"/{quoted(index)}/_mapping", json.dumps({"properties": new}))
        if not answer.good and answer.status != 403:
            raise refused(answer, f"the mapping of index '{index}'", place=table.place)

    def _made(self, table: SinkTable, index: str) -> bool:
        """False if it exists by now."""
        body = {"settings": SETTINGS, "mappings": {"properties": properties(table.schema)}}
        answer = self._patient.ask("PUT", f"/{quoted(index)}", json.dumps(body))
        if answer.good:
            return True
        if "already_exists" in answer.reason:
            return False
        raise refused(answer, f"index '{index}'", place=table.place)

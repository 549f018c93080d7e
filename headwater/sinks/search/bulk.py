"""Documents in requests of bounded size; what is refused for now is sent again, and only that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headwater.errors import Place
from headwater.sinks.search.client import LINES
from headwater.sinks.search.patience import FOR_NOW, Patient
from headwater.sinks.search.troubles import refused, refused_document

PATH = "/_bulk?filter_path=errors,items.*.status,items.*.error"

BLOCKED = "cluster_block_exception"
"""What an index says that may not be written for now, as when its disk is full."""


@dataclass(frozen=True)
class Limits:
    """How many documents and how many bytes a request holds at most; 0 is no limit."""

    actions: int
    size: int


def send(patient: Patient, actions: Iterable[str], *, limits: Limits, place: Place | None) -> None:
    """Send actions, each a line of what to do and perhaps a line of the document, until all are in."""
    for request in _requests(actions, limits):
        _send(patient, request, place)


def _requests(actions: Iterable[str], limits: Limits) -> Iterator[list[str]]:
    held: list[str] = []
    size = 0
    for action in actions:
        # Characters stand for bytes: it is near enough for a limit, and free.
        full = 0 < limits.actions <= len(held) or 0 < limits.size < size + len(action)
        if held and full:
            yield held
            held, size = [], 0
        held.append(action)
        size += len(action)
    if held:
        yield held


def _send(patient: Patient, actions: list[str], place: Place | None) -> None:
    while actions:
        answer = patient.ask("POST", PATH, "".join(actions), kind=LINES)
        if answer.status == 413 and len(actions) > 1:
            half = len(actions) // 2
            _send(patient, actions[:half], place)
            _send(patient, actions[half:], place)
            return
        if not answer.good:
            raise refused(answer, "a bulk request", place=place)
        if not answer.said.get("errors"):
            break
        items = [next(iter(item.values())) for item in answer.said["items"]]
        again = [
            (action, item)
            for action, item in zip(actions, items, strict=True)
            if _wants_again(action, item, place)
        ]
        actions = [action for action, _ in again]
        if again:
            patient.pause(f"{answer.node} refuses {len(again)} documents for now: {_reason(again[0][1])}")
    patient.goes_on()


def _wants_again(action: str, item: dict[str, Any], place: Place | None) -> bool:
    """False for what is done, True for what was refused for now; what was refused for good raises."""
    error = item.get("error")
    if error is None:
        return False
    if item["status"] in FOR_NOW or error.get("type") == BLOCKED:
        return True
    raise refused_document(action, item["status"], error, place=place)


def _reason(item: dict[str, Any]) -> str:
    return f"{item['error'].get('type')}: {item['error'].get('reason')}"

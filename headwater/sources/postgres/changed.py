"""The sign that a capture has to look at its tables anew."""

from __future__ import annotations

from headwater.sources.postgres.finding import Opening


class TablesChanged(Exception):
    """Tables came or went, or are published otherwise; the capture begins again with what there is."""

    def __init__(self, opening: Opening | None) -> None:
        super().__init__("tables came, went or are published otherwise")
        self.opening = opening

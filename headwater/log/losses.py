"""What can no longer be told of a table: a column that went, or all of it.

A loss takes effect with an append of the log, in front of all its transactions: what was made from the column is true
up to the append before. What the events say of the column from then on, NULL or not, counts for nothing; of a table that
is lost nothing is told any more. It stays lost until the table is read anew.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from headwater.errors import Place, SourceError


@dataclass(frozen=True)
class Loss:
    """A column of a declared table that can no longer be read, and in the words of an error why."""

    table: str
    column: str | None
    """None if all of the table is lost."""
    message: str
    detail: str = ""
    hint: str = ""

    def error(self, place: Place | None = None) -> SourceError:
        """The error for whoever cannot go on without it."""
        return SourceError(self.message, detail=self.detail, hint=self.hint, place=place)

    def to_json(self) -> dict[str, str | None]:
        """A form that is kept."""
        return asdict(self)


def loss_from_json(said: dict[str, str | None]) -> Loss:
    """The loss that `Loss.to_json` wrote."""
    table, column = said["table"], said["column"]
    assert table is not None
    words = {name: str(said[name]) for name in ("message", "detail", "hint")}
    return Loss(table, column, **words)

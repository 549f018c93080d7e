"""Places in logs: a Position in one, a Cut over all."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Position:
    """A place in one log: ordered, printable, JSON.

    >>> str(Position(0x16B3748, "lsn"))
    '0/16B3748'
    """

    value: int
    notation: str = field(default="number", compare=False)

    def __str__(self) -> str:
        if self.notation == "lsn":
            return f"{self.value >> 32:X}/{self.value & 0xFFFFFFFF:X}"
        if self.notation == "binlog":
            return f"{self.value >> 40:06d}:{self.value & (1 << 40) - 1}"
        if self.notation == "messages":
            # Above the count stands how often a goal was reached, which says nothing to a reader.
            return str(self.value & (1 << 40) - 1)
        return str(self.value)

    def to_json(self) -> dict[str, object]:
        """The form in which progress keeps it."""
        return {"value": self.value, "notation": self.notation}


def position_from_json(said: dict[str, object]) -> Position:
    """The position that `Position.to_json` wrote."""
    value, notation = said["value"], said["notation"]
    assert isinstance(value, int) and isinstance(notation, str)
    return Position(value, notation)


@dataclass(frozen=True)
class Cut:
    """One Position for each source: the moment of history at which every answer of a batch is true."""

    positions: tuple[tuple[str, Position], ...] = ()

    def of(self, source: str) -> Position | None:
        """The position of one source, None if nothing was read of it yet."""
        return dict(self.positions).get(source)

    def moved(self, source: str, position: Position) -> Cut:
        """The cut with one source moved on."""
        places = dict(self.positions) | {source: position}
        return Cut(tuple(sorted(places.items())))

    def __str__(self) -> str:
        return " ".join(str(position) for _, position in self.positions) or "nothing yet"

    def to_json(self) -> dict[str, object]:
        """The form in which progress keeps it."""
        return {source: position.to_json() for source, position in self.positions}


def cut_from_text(said: str) -> Cut:
    """The cut that prints so; what its sources are called, it does not say.

    >>> str(cut_from_text("0/16B3748 17"))
    '0/16B3748 17'
    """
    words = [] if said == str(Cut()) else said.split()
    return Cut(tuple((str(number), _position(word)) for number, word in enumerate(words)))


def _position(word: str) -> Position:
    if "/" in word:
        high, _, low = word.partition("/")
        return Position(int(high, 16) << 32 | int(low, 16), "lsn")
    if ":" in word:
        file, _, place = word.partition(":")
        return Position(int(file) << 40 | int(place), "binlog")
    return Position(int(word))


def cut_from_json(said: dict[str, dict[str, object]]) -> Cut:
    """The cut that `Cut.to_json` wrote."""
    return Cut(tuple(sorted((s, position_from_json(p)) for s, p in said.items())))

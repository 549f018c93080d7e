"""Places in the binary logs of a server, and the transactions a reader has seen.

A place is a file and where in it; files are numbered, so that places can be compared: `binlog.000003` at 154 is
`(3 << 40) + 154`. A server that takes the place of another numbers its files anew; a shift keeps the numbers growing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headwater.errors import SourceError

BITS = 40
FIRST = 4
"""Where the first event of a file stands."""

_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")


@dataclass(frozen=True)
class Place:
    """A place: `Place("binlog.000003", 154)`."""

    file: str
    at: int

    def value(self, shift: int) -> int:
        """The place as a number."""
        return (file_number(self.file) + shift << BITS) + self.at

    def __str__(self) -> str:
        return f"{self.file}:{self.at}"


def file_number(file: str) -> int:
    """The number at the end of a file's name."""
    return int(file.rpartition(".")[2])


def file_of(value: int, shift: int, like: str) -> Place:
    """The place that a number stands for; files are called like the given one."""
    stem, _, digits = like.rpartition(".")
    return Place(f"{stem}.{(value >> BITS) - shift:0{len(digits)}d}", value & (1 << BITS) - 1)


class Gtids:
    """Transactions by their names: of each source the numbers that were seen, as ranges.

    MySQL writes them `uuid:1-5:7`, several separated by commas; MariaDB only the last of each domain, as `0-1-100`.
    Transactions with a tag, `uuid:tag:1-5`, have numbers of their own: `uuid:tag` is then their source.
    """

    def __init__(self, text: str = "", *, maria: bool = False) -> None:
        self._maria = maria
        self._ranges: dict[str, list[list[int]]] = {}
        for part in re.split(r"[,\s]+", re.sub(r"\s*:\s*", ":", text.strip())):
            if not part:
                continue
            try:
                if maria:
                    domain, server, number = part.split("-")
                    self._ranges[domain] = [[int(server), int(number)]]
                else:
                    self._read(part)
            except ValueError:
                raise SourceError(
                    f"'{part}' is no set of transactions",
                    hint="They are written as '0-1-100'."
                    if maria
                    else "They are written as 'uuid:1-5:7' or 'uuid:tag:1-5'.",
                ) from None

    def _read(self, part: str) -> None:
        uuid, *said = part.lower().split(":")
        source = uuid
        for word in said:
            if _TAG.fullmatch(word):
                source = f"{uuid}:{word}"
            else:
                known = self._ranges.get(source, [])
                self._ranges[source] = _merged([*known, _bounds(word)])

    def add(self, source: str, number: int) -> None:
        """A transaction was seen."""
        if self._maria:
            domain, server = source.split("-")
            self._ranges[domain] = [[int(server), number]]
            return
        ranges = self._ranges.setdefault(source, [])
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
            return
        if any(low <= number <= high for low, high in ranges):
            return
        ranges.append([number, number])
        self._ranges[source] = _merged(ranges)

    def has(self, other: Gtids) -> bool:
        """True if every transaction of the other is here."""
        if self._maria:
            mine = {domain: ranges[0][1] for domain, ranges in self._ranges.items()}
            return all(mine.get(d, 0) >= ranges[0][1] for d, ranges in other._ranges.items())
        return all(
            any(low <= first and last <= high for low, high in self._ranges.get(source, []))
            for source, ranges in other._ranges.items()
            for first, last in ranges
        )

    @property
    def ranges(self) -> dict[str, list[list[int]]]:
        """The numbers of each source, from the first to the last of a range."""
        return self._ranges

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def __str__(self) -> str:
        if self._maria:
            return ",".join(f"{d}-{ranges[0][0]}-{ranges[0][1]}" for d, ranges in self._ranges.items())
        return ",".join(
            ":".join([source, *(f"{a}-{b}" if a != b else str(a) for a, b in ranges)])
            for source, ranges in sorted(self._ranges.items())
        )


def _bounds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return [int(first), int(last or first)]


def _merged(ranges: list[list[int]]) -> list[list[int]]:
    merged: list[list[int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1][1] = max(high, merged[-1][1])
        else:
            merged.append([low, high])
    return merged

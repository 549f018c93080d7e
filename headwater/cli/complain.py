"""An error as a person reads it: the message, the place underlined, what was seen, what to do."""

from __future__ import annotations

from headwater.errors import HeadwaterError, Place


def error_text(error: HeadwaterError) -> str:
    """The lines to print.

    error: column "nope" does not exist
      --> claims.sql:3:8
       |
     3 | SELECT nope FROM t
       |        ^^^^
    hint: The columns are a, b.
    """
    lines = [f"error: {error.message}"]
    if error.place is not None:
        lines += place_lines(error.place)
    if error.detail:
        lines.append(f"detail: {error.detail}")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return "\n".join(lines)


def place_lines(place: Place) -> list[str]:
    """The place, and under it the line of SQL with the words underlined."""
    if not place.text:
        return [f"  --> {place}"]
    number = f"{place.line:>2}"
    gap = " " * len(number)
    line = place.text.rstrip("\n").replace("\t", " ")
    column = place.mark or place.column
    width = max(1, min(place.width, len(line) - column + 1))
    return [
        f" {gap}--> {place}",
        f" {gap} |",
        f" {number} | {line}",
        f" {gap} | {' ' * (column - 1)}{'^' * width}",
    ]

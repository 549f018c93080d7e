"""The known name that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like this one, without regard to case."""
    by_upper = {name.upper(): name for name in known}
    near = difflib.get_close_matches(word.upper(), by_upper, n=1, cutoff=cutoff)
    return by_upper[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str, cutoff: float = 0.5) -> str:
    """A hint with the name that is most like the one asked for, or what else can be done."""
    near = nearest(word, known, cutoff=cutoff)
    return otherwise if near is None else f"Did you mean '{near}'?"


def nearest_hint(word: str, known: Sequence[str], what: str) -> str:
    """A hint with the name that is most like the one asked for, or with all: `The tables are a, b.`"""
    listed = f"The {what} are {', '.join(known[:20])}." if known else f"There are no {what}."
    return did_you_mean(word, known, otherwise=listed)

"""What a client asks for, and the rows that it takes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from headwater.runtime.reading import Limits
from headwater.server.postgres.kinds import Statement
from headwater.server.postgres.messages import Body, Field, data_rows
from headwater.server.postgres.parameters import expressions
from headwater.server.postgres.reading import Held
from headwater.server.postgres.rows import rows_of

ROWS_AT_ONCE = 1_000
"""So many rows are written before they are sent."""


@dataclass(frozen=True)
class Known:
    """A statement that was read: what it is, the types of its parameters, and the columns it gives."""

    statement: Statement
    kinds: tuple[int, ...] = ()
    fields: tuple[Field, ...] = ()


class Rows:
    """The rows of an answer, taken some at a time."""

    def __init__(self, held: Held, query: exp.Query, limits: Limits) -> None:
        self._closing = ExitStack()
        asked = self._closing.enter_context(held.asked(query, limits))
        self._batches = asked.found.batches()
        self._left: pa.RecordBatch | None = None

    def take(self, fields: Sequence[Field], limit: int | None) -> Iterator[tuple[int, bytes]]:
        """The next rows, at most so many: how many they are, and how they go over the wire."""
        while limit is None or limit > 0:
            if self._left is None or self._left.num_rows == 0:
                self._left = next(self._batches, None)
                if self._left is None:
                    self.close()
                    return
            count = min(self._left.num_rows, ROWS_AT_ONCE, limit or ROWS_AT_ONCE)
            yield count, data_rows(rows_of(self._left.slice(0, count), fields))
            self._left = self._left.slice(count)
            limit = None if limit is None else limit - count

    def close(self) -> None:
        """Let go of the answer."""
        self._closing.close()
        self._batches = iter(())


@dataclass
class Portal:
    """A statement with its parameters, ready to be executed."""

    known: Known
    given: Sequence[exp.Expression] = ()
    fields: Sequence[Field] = ()
    """The columns, each in the form that the client wants."""
    rows: Rows | None = None

    def close(self) -> None:
        """Let go of its rows."""
        if self.rows is not None:
            self.rows.close()


@dataclass
class Cursor:
    """A cursor that a statement declared."""

    rows: Rows
    is_held: bool = field(default=False)
    """True if it outlives its transaction."""


def bound(known: Known, body: Body) -> Portal:
    """The portal that the rest of a Bind message describes."""
    formats = body.numbers("h")
    values = [body.value() for _ in range(body.number("h"))]
    given = expressions(values, known.kinds, formats)
    return Portal(known, given, shown(known.fields, body.numbers("h")))


def shown(fields: Sequence[Field], formats: Sequence[int]) -> tuple[Field, ...]:
    """Columns in forms: one is for all, none means texts."""
    forms = [*formats] if len(formats) > 1 else [*(formats or (0,))] * len(fields)
    return tuple(dataclasses.replace(one, format=form) for one, form in zip(fields, forms, strict=False))

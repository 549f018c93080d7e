"""What this endpoint needs of whoever reads relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import pyarrow as pa
from sqlglot import exp

from headwater.runtime.reading import Limits
from headwater.schema import Schema


class Relation(Protocol):
    """A table or view that can be read; its pipeline is the schema it is in."""

    @property
    def pipeline(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def schema(self) -> Schema: ...


class Found(Protocol):
    """What a query gave."""

    @property
    def schema(self) -> Schema: ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Its rows, in pieces of bounded size."""


class Asked(Protocol):
    """A query that is being answered."""

    @property
    def found(self) -> Found: ...


class Held(Protocol):
    """Everything at one cut, for as long as somebody holds it."""

    def relations(self) -> Sequence[Relation]:
        """What can be read."""

    def asked(self, query: exp.Query, limits: Limits) -> AbstractContextManager[Asked]:
        """What a query gives, to be read inside the block."""


class Reading(Protocol):
    """Who reads relations."""

    def relations(self) -> Sequence[Relation]:
        """What can be read now."""

    def held(self) -> AbstractContextManager[Held]:
        """Everything as it is now, for as long as the block lasts."""

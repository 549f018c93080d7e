"""What a relation of the stream is among the declared tables, and what of these it has lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headwater.errors import SourceError
from headwater.log.beside import LOST, Beside
from headwater.log.layout import Layout
from headwater.log.losses import Loss
from headwater.log.manifest import LoggedTable
from headwater.log.pgoutput import Relation
from headwater.log.text_values import can_read
from headwater.sources.dead_letters import OTHERWISE
from headwater.sources.postgres.before import before_of
from headwater.sources.postgres.catalog import (
    ServerColumn,
    column_named,
    columns_of,
    modified,
    primary_key_of,
    types_of,
)
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.connect import Address, session
from headwater.sources.postgres.fits import Shape, losses_of
from headwater.sources.postgres.identities import MIXED, identity_of
from headwater.sources.postgres.meanwhile import Meanwhile
from headwater.sources.postgres.messages import message_layout, reads
from headwater.sources.postgres.types import ServerType, family


class Layouts:
    """Answers for each relation the stream announces; types are asked of the server once."""

    def __init__(
        self,
        tables: Sequence[CaptureTable],
        logged: Mapping[str, LoggedTable],
        address: Address,
        *,
        lost: Sequence[Loss] = (),
        meanwhile: Meanwhile | None = None,
    ) -> None:
        """`lost` is what was lost before, and stays so until a table is read anew."""
        self._meanwhile = meanwhile
        self._tables = tables
        self._logged = logged
        self._address = address
        self._types: dict[int, ServerType] = {}
        self._told: tuple[Relation, Shape] | None = None
        self._lost = {(loss.table, loss.column) for loss in lost}
        self._messages = [
            (table, message_layout(table, logged[table.name].snapshot)) for table in tables if table.prefixes
        ]

    def __call__(self, relation: Relation) -> tuple[Layout, ...]:
        """The declared tables that read this relation; none if nobody does."""
        wanted = [table for table in self._tables if self._reads(table, relation)]
        if not wanted:
            return ()
        # One message is asked for twice: whether it changes something, and when it is taken in.
        if self._told is None or self._told[0] is not relation:
            self._told = relation, self._shape(relation)
        shape = self._told[1]
        return tuple(self._layout(table, shape) for table in wanted)

    def ahead(self, relation: Relation) -> tuple[Layout, ...]:
        """The same before the commit of the transaction that tells of it; an error if only that can see all of it."""
        if any(self._reads(table, relation) for table in self._tables):
            oids = {column.type_oid for column in relation.columns}
            if hidden := oids - self._ask(oids):
                raise SourceError(
                    f"a type of table '{relation.schema}.{relation.name}' is not known yet",
                    detail=f"Nothing is committed of the type with the number {min(hidden)}.",
                )
        found, self._told = self(relation), None  # after the commit the catalog may say more
        # What is rolled back loses nothing.
        for loss in (loss for layout in found for loss in layout.losses):
            raise loss.error()
        # Where a row stands that is put aside is known at the commit: until then a value that does not fit is an error.
        return tuple(replace(layout, parks=False) for layout in found)

    def messages(self, prefix: str) -> tuple[Layout, ...]:
        """The declared tables that read an application's messages of this prefix."""
        return tuple(layout for table, layout in self._messages if reads(table.prefixes, prefix))

    def _layout(self, table: CaptureTable, shape: Shape) -> Layout:
        logged, columns = self._logged[table.name], shape.columns
        found = losses_of(table, shape, before_of(logged))
        losses = tuple(loss for loss in found if (table.name, loss.column) not in self._lost)
        gone = (table.name, None) in self._lost or any(loss.column is None for loss in found)
        places, families, missing = [], [], []
        for place, column in enumerate(table.schema):
            if column.name in table.metadata:
                continue
            at = None if gone else column_named(columns, column.name)
            kind = "" if at is None else family(at.type)
            if at is None or not can_read(kind, column.type):
                missing.append(Beside(place, LOST))
                continue
            places.append(columns.index(at))
            families.append(kind)
        beside = sorted((*table.beside(self._address.database), *missing), key=lambda one: one.place)
        return Layout(
            table.name,
            table.schema,
            tuple(places),
            tuple(families),
            logged.snapshot,
            table.place,
            tuple(beside),
            table.by_key,
            table.shard,
            () if (table.name, None) in self._lost else losses,
            gone,
            table.parks,
            OTHERWISE,
        )

    def _shape(self, relation: Relation) -> Shape:
        """What a relation is like; what the stream does not tell is as it is in the catalog now.

        So something may be seen to be lost by a change that comes only later in the stream. It is lost then, too.
        """
        kinds = [modified(self._type(column.type_oid), column.modifier) for column in relation.columns]
        with session(self._address) as cursor:
            primary = primary_key_of(cursor, relation.id)
            numbers = {column.name: column.number for column in columns_of(cursor, relation.id)}
            is_mixed = bool(numbers) and identity_of(cursor, relation.id)[1].kind == MIXED
        columns = tuple(
            ServerColumn(column.name, column.type_oid, kind, False, numbers.get(column.name, 0))
            for column, kind in zip(relation.columns, kinds, strict=True)
        )
        key = tuple(column.name for column in relation.columns if column.is_key)
        logged = None if relation.identity == "f" else key
        name = f"{relation.schema}.{relation.name}"
        return Shape(relation.id, name, columns, logged, primary, is_there=bool(numbers), is_mixed=is_mixed)

    def _reads(self, table: CaptureTable, relation: Relation) -> bool:
        """True if a relation has the name of a table, or is the one that was read under it."""
        if table.prefixes:
            return False
        if table.oid:
            # The log may tell of a shard under a name that it had, or got; who looks at the catalog complains of that.
            return table.oid == relation.id
        is_same = before_of(self._logged[table.name]).oid == relation.id
        return is_same or (table.remote_schema, table.remote_table) == (relation.schema, relation.name)

    def _type(self, oid: int) -> ServerType:
        # A type that was dropped since is read as text.
        return self._types[oid] if self._ask({oid}) else self._types.setdefault(oid, ServerType("unknown"))

    def _ask(self, oids: set[int]) -> set[int]:
        """Those of the types that are known, after the server was asked for them."""
        if unknown := sorted(oids - set(self._types)):
            with session(self._address) as cursor:
                self._types.update(types_of(cursor, unknown))
        return oids & set(self._types)

    def lost_by(self, position: int) -> tuple[Loss, ...]:
        """What the catalog told before a row did, once the stream has come to where that was."""
        meanwhile = self._meanwhile
        if meanwhile is None or position < meanwhile.position:
            return ()
        self._meanwhile = None
        return meanwhile.losses

    def lose(self, losses: Sequence[Loss]) -> None:
        """These are known now: who reads them has heard of it."""
        self._lost |= {(loss.table, loss.column) for loss in losses}

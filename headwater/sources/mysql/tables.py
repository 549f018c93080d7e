"""The tables of the binary log: what their rows are, and what statements do to them as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from headwater.errors import SourceError
from headwater.log.binlog import Rows, TableMap
from headwater.log.binlog_rows import Row, row_reader, types_of
from headwater.log.pgoutput import Delete, Insert, Message, Relation, Truncate, Update
from headwater.sources.mysql import statements
from headwater.sources.mysql.definitions import Definitions
from headwater.sources.mysql.layouts import Layouts
from headwater.sources.mysql.resume import ANEW
from headwater.sources.mysql.types import row_column

_ONLINE = re.compile(r"_(.+)_(?:gho|new|ghost)")
"""How tools that change a table while it is used call the copy that takes its place."""


class Tables:
    """Makes messages for the collector of what the log says of tables that somebody reads."""

    def __init__(self, layouts: Layouts, definitions: Definitions, *, folds_names: bool = False) -> None:
        self._layouts, self.definitions = layouts, definitions
        self._folds_names = folds_names
        self._maps: dict[int, TableMap] = {}
        self._readers: dict[int, Callable[[bytes, int], tuple[Row, int]]] = {}
        self._extras: dict[int, Row] = {}

    def forget_maps(self) -> None:
        """Another file begins, in which tables are announced anew."""
        self._maps, self._readers = {}, {}

    def mapped(self, table: TableMap) -> Relation | None:
        """A table is announced; None if it is known as it is, or if nobody reads it."""
        if self._maps.get(table.id) == table:
            return None
        self._maps[table.id] = table
        self._readers.pop(table.id, None)
        if not self._layouts.is_read(table.schema, table.name):
            return None
        columns = self.definitions.columns(table)
        self._readers[table.id] = row_reader(types_of(table), [row_column(column) for column in columns])
        self._extras[table.id] = [table.schema.encode(), table.name.encode()]
        return self._layouts.relation(table.id, table.schema, table.name, columns)

    def is_read(self, table: int) -> bool:
        """True if somebody reads a table that was announced."""
        return table in self._readers

    def rows(self, rows: Rows) -> Iterator[Message]:
        """What happened to the rows of a table that is read."""
        if not rows.is_whole:
            raise self.partial(rows.table)
        read, extras, table = self._readers[rows.table], self._extras[rows.table], rows.table
        data, at, end = rows.data, 0, len(rows.data)
        match rows.kind:
            case "update":
                while at < end:
                    old, at = read(data, at)
                    new, at = read(data, at)
                    old += extras
                    new += extras
                    yield Update(table, old, True, new)
            case "write":
                while at < end:
                    row, at = read(data, at)
                    row += extras
                    yield Insert(table, row)
            case "delete":
                while at < end:
                    row, at = read(data, at)
                    row += extras
                    yield Delete(table, row, True)

    def partial(self, table: int) -> SourceError:
        """Rows of which not everything was written."""
        found = self._maps[table]
        return SourceError(
            f"rows of table '{found.schema}.{found.name}' stand in the log only in part",
            detail="Somebody writes with another binlog_row_image than FULL, or with binlog_row_value_options.",
            hint=f"Set them for all sessions. {ANEW}",
        )

    def follow(self, statement: statements.Statement, at: int) -> Iterator[Message]:
        """What a statement that ends at a place of the log does to the tables that are read."""
        if self._folds_names:
            statement = statements.folded(statement)
        match statement:
            case statements.Written(names):
                for name in names:
                    if self._layouts.is_read(*name):
                        raise _unseen(name)
                return
            case statements.Dropped((schema, "")):
                for name in [name for name in self.definitions.names() if name[0] == schema]:
                    yield from self.follow(statements.Dropped(name), at)
                return
            case statements.Renamed():
                self._renamed(statement, at)
            case _ if self._layouts.is_read(*statement.table):
                yield from self._changed(statement, at)
        # The next rows announce it anew, perhaps with other columns.
        name = statement.table
        self._maps = {n: table for n, table in self._maps.items() if (table.schema, table.name) != name}

    def _changed(self, statement: statements.Statement, at: int) -> Iterator[Message]:
        match statement:
            case statements.Truncated(name):
                yield from self._emptied(name)
            case statements.Dropped(name):
                yield from self._emptied(name)
                self.definitions.dropped(name)
            case statements.Altered((schema, table), loses_rows=True):
                raise SourceError(
                    f"rows of table '{schema}.{table}' went with a partition",
                    detail="The log does not say which rows they were.",
                    hint=ANEW,
                )
            case statements.Altered(name):
                self.definitions.altered(name, at)
            case statements.Created(name) if self.definitions.known(name) is None:
                self.definitions.altered(name, at)

    def _emptied(self, name: statements.Name) -> Iterator[Message]:
        """All rows of a table go; its last known columns say which declared tables read it."""
        merged = self._layouts.merged(*name, self.definitions.names())
        if merged is not None:
            raise SourceError(
                f"table '{name[0]}.{name[1]}' was emptied",
                detail=f"Its rows are among those of '{merged.name}', and the log does not say which ones they were.",
                hint=f"Delete rows with DELETE. {ANEW}",
                place=merged.place,
            )
        columns = self.definitions.known(name)
        if columns is not None:
            number = -1
            yield self._layouts.relation(number, *name, columns)
            yield Truncate((number,))

    def _renamed(self, statement: statements.Renamed, at: int) -> None:
        old, new = statement.table, statement.to
        copy = _ONLINE.fullmatch(old[1])
        if copy and copy[1] == new[1] and self._layouts.is_read(*new):
            # The copy has the rows of the table whose place it takes.
            self.definitions.altered(new, at)
        elif new[1] in (f"_{old[1]}_del", f"_{old[1]}_old"):
            return
        elif self._layouts.is_read(*old) or self._layouts.is_read(*new):
            raise SourceError(
                f"table '{old[0]}.{old[1]}' was renamed to '{new[0]}.{new[1]}'",
                detail="Which rows a table with that name has now is not in the log.",
                hint=ANEW,
            )


def _unseen(name: statements.Name) -> SourceError:
    return SourceError(
        f"rows of table '{name[0]}.{name[1]}' were changed by a statement that stands in the log as it is",
        detail="Somebody writes with another binlog_format than ROW: which rows it changed is not in the log.",
        hint=f"Set binlog_format = ROW for all sessions. {ANEW}",
    )

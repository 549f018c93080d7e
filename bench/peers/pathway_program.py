"""The claims join in Pathway, for `pathway.py`; it runs in a Python of its own, which has Pathway and nothing of ours.

Of a database one slot feeds both tables. First rows are copied in the snapshot that the slot exported, changes are read
from pgoutput; each transaction is committed to the engine as a whole. Of topics its own reader takes one each.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import traceback
from typing import Any

import pathway as pw  # type: ignore[import-not-found]
import psycopg2
from psycopg2.extras import LogicalReplicationConnection, ReplicationMessage

KINDS = {"INT": int, "BIGINT": int, "STRING": str}
PIECE = 100_000
CLIENT = {
    "group.id": "pathway", "auto.offset.reset": "earliest",
    # Who is frozen for a while is to keep its partitions.
    "session.timeout.ms": "1800000", "max.poll.interval.ms": "1800000",
}  # fmt: skip
IDLE_MS = 20
"""How often a table that nothing happens to says so: the engine lets nothing out before all tables have spoken."""


class Table(pw.io.python.ConnectorSubject):  # type: ignore[misc]
    """One table, which the reader fills from its own thread."""

    def __init__(self, columns: dict[str, type]) -> None:
        super().__init__(session_type="upsert")
        self.kinds = list(columns.items())

    def run(self) -> None:
        """Stay: an engine whose tables have ended ends too."""
        threading.Event().wait()

    def begin(self) -> None:
        """What comes now belongs together."""
        self._disable_commits()

    def whole(self) -> None:
        """Let it out."""
        self._enable_commits()
        self.commit()

    def put(self, texts: list[str]) -> None:
        """A row comes, or takes the place of the one with its key."""
        self.next(**{name: kind(text) for (name, kind), text in zip(self.kinds, texts, strict=True)})

    def drop(self, texts: list[str | None]) -> None:
        """A row goes; of the others only the key is known."""
        pairs = zip(self.kinds, texts, strict=True)
        self.delete(**{name: kind() if text is None else kind(text) for (name, kind), text in pairs})


class Reader(pw.io.python.ConnectorSubject):  # type: ignore[misc]
    """Reads the slot for all tables; it is a table without rows, so that the engine starts it."""

    def __init__(self, asked: dict[str, Any], tables: dict[str, Table]) -> None:
        super().__init__()
        self.asked, self.tables = asked, tables
        self.names: dict[int, str] = {}
        self.touched: set[str] = set()

    def run(self) -> None:
        """Read; the engine would go on without us, so what breaks here ends everything."""
        try:
            self.read()
        finally:
            traceback.print_exc()
            os._exit(1)

    def read(self) -> None:
        """First rows, then changes."""
        login = {name: self.asked[name] for name in ("port", "user", "password")}
        login |= {"host": "127.0.0.1", "dbname": self.asked["source"]}
        client = psycopg2.connect(**login)
        client.autocommit = True
        names = ", ".join(self.tables)
        client.cursor().execute(f"CREATE PUBLICATION pathway FOR TABLE {names}")
        log = psycopg2.connect(**login, connection_factory=LogicalReplicationConnection).cursor()
        log.execute("CREATE_REPLICATION_SLOT pathway LOGICAL pgoutput EXPORT_SNAPSHOT")
        snapshot = log.fetchone()[2]
        client.autocommit = False
        with client.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
            for name, table in self.tables.items():
                table.begin()
                cursor.copy_expert(f"COPY {name} TO STDOUT", Copied(table))
                table.whole()
        client.close()
        options = {"proto_version": "1", "publication_names": "pathway"}
        log.start_replication(slot_name="pathway", options=options, status_interval=5)
        log.consume_stream(self.received)

    def received(self, message: ReplicationMessage) -> None:
        """One message of pgoutput."""
        body: bytes = message.payload
        match body[:1]:
            case b"R":
                self.names[struct.unpack_from("!I", body, 1)[0]] = body[5:].split(b"\0")[1].decode()
            case b"I" | b"U" | b"D":
                self._changed(body)
            case b"C":
                for name in self.touched:
                    self.tables[name].whole()
                self.touched.clear()
                message.cursor.send_feedback(flush_lsn=message.data_start)

    def _changed(self, body: bytes) -> None:
        name = self.names[struct.unpack_from("!I", body, 1)[0]]
        if name not in self.touched:
            self.tables[name].begin()
            self.touched.add(name)
        at, kind = 5, body[5:6]
        if kind in b"KO" and body[:1] == b"U":
            # The old row comes first; an upsert does not need it, since no key is ever changed here.
            _, at = fields(body, at + 1)
        row, _ = fields(body, at + 1)
        if body[:1] == b"D":
            self.tables[name].drop(row)
        else:
            self.tables[name].put(row)


class Copied:
    """A file that COPY writes into: cuts the text into rows."""

    def __init__(self, table: Table) -> None:
        self.table, self.rest, self.count = table, b"", 0

    def write(self, data: bytes) -> int:
        """Some bytes of it; psycopg2 hands over whole lines or parts of them."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.table.put(line.decode().split("\t"))
            self.count += 1
            if self.count % PIECE == 0:
                self.table.commit()
        return len(data)


def fields(body: bytes, at: int) -> tuple[list[Any], int]:
    """The values of a row as texts, and where it ends."""
    (count,) = struct.unpack_from("!H", body, at)
    at += 2
    row: list[Any] = []
    for _ in range(count):
        if body[at : at + 1] == b"t":
            (size,) = struct.unpack_from("!I", body, at + 1)
            row.append(body[at + 5 : at + 5 + size].decode())
            at += 5 + size
        else:
            row.append(None)
            at += 1
    return row, at


def own(name: str) -> str:
    """What a column is called here."""
    return "number" if name == "id" else name


def joined_from_log(asked: dict[str, Any]) -> pw.Table:
    """Claims with the companies of their members, from the log of the database."""
    subjects: dict[str, Table] = {}
    read: dict[str, Any] = {}
    for table in asked["tables"]:
        # `id` is Pathway's own name for a row's pointer.
        columns = {own(name): KINDS[kinds[1]] for name, kinds in table["columns"].items()}
        definitions = {
            name: pw.column_definition(dtype=kind, primary_key=name in map(own, table["key"]))
            for name, kind in columns.items()
        }
        subjects[table["name"]] = Table(columns)
        read[table["name"]] = pw.io.python.read(
            subjects[table["name"]],
            schema=pw.schema_builder(definitions, name=table["name"]),
            autocommit_duration_ms=IDLE_MS,
        )
    reader = pw.io.python.read(
        Reader(asked, subjects), schema=pw.schema_from_types(nothing=int), autocommit_duration_ms=IDLE_MS
    )
    pw.io.null.write(reader)
    claims, members = read["claims"], read["members"]
    return claims.join(members, claims.member_id == members.number).select(
        members.company, claims.animal, claims.total
    )


def joined_from_topics(asked: dict[str, Any]) -> pw.Table:
    """The same from topics, where columns have the names of the database: the key is a row's pointer."""
    read: dict[str, Any] = {}
    for table in asked["tables"]:
        definitions = {
            name: pw.column_definition(dtype=KINDS[kinds[1]], primary_key=name in table["key"])
            for name, kinds in table["columns"].items()
        }
        read[table["name"]] = pw.io.debezium.read(
            {**CLIENT, "bootstrap.servers": asked["broker"]},
            asked["topics"][table["name"]],
            schema=pw.schema_builder(definitions, name=table["name"]),
            autocommit_duration_ms=IDLE_MS,
        )
    members = read["members"]
    claims = read["claims"].select(
        pw.this.animal, pw.this.total, whose=members.pointer_from(pw.this.member_id)
    )
    return claims.join(members, claims.whose == members.id).select(
        members.company, claims.animal, claims.total
    )


def main() -> None:
    """Build the dataflow and run it."""
    asked = json.loads(sys.argv[1])
    joined = joined_from_topics(asked) if "topics" in asked else joined_from_log(asked)
    costs = joined.groupby(pw.this.company, pw.this.animal).reduce(
        pw.this.company, pw.this.animal, total=pw.reducers.sum(pw.this.total), claims=pw.reducers.count()
    )
    target = {name: str(asked[name]) for name in ("port", "user", "password")}
    target |= {"host": "127.0.0.1", "dbname": asked["target"]}
    pw.io.postgres.write(
        costs,
        target,
        asked["into"],
        max_batch_size=5_000,
        output_table_type="snapshot",
        primary_key=[costs.company, costs.animal],
    )
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main()

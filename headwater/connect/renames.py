"""Options of Debezium 1.x in the words of today's Debezium: old name, new name.

Only names and values stand here; `translate.py` applies them.
"""

from __future__ import annotations

RENAMED = {
    "table.whitelist": "table.include.list",
    "table.blacklist": "table.exclude.list",
    "schema.whitelist": "schema.include.list",
    "schema.blacklist": "schema.exclude.list",
    "database.whitelist": "database.include.list",
    "database.blacklist": "database.exclude.list",
    "column.whitelist": "column.include.list",
    "column.blacklist": "column.exclude.list",
    "collection.whitelist": "collection.include.list",
    "collection.blacklist": "collection.exclude.list",
    "field.blacklist": "field.exclude.list",
    "database.server.name": "topic.prefix",
    "mongodb.name": "topic.prefix",
    "database.history": "schema.history.internal",
    "database.history.store.only.monitored.tables.ddl": "schema.history.internal.store.only.captured.tables.ddl",
    "event.deserialization.failure.handling.mode": "event.processing.failure.handling.mode",
    "heartbeat.topics.prefix": "topic.heartbeat.prefix",
    "slot.drop_on_stop": "slot.drop.on.stop",
    "toasted.value.placeholder": "unavailable.value.placeholder",
    "transaction.topic": "topic.transaction",
}

PREFIXES = {
    "database.history.": "schema.history.internal.",
}
"""Trees of options that moved as a whole."""

REMOVED = {
    "source.struct.version": "every event has today's form",
    "snapshot.new.tables": "a table added to the list is read by an incremental snapshot, asked for by a signal",
}
"""Options that have no successor, and why none is needed."""

DRIVER_STAYS = ("tcpKeepAlive",)
"""Options called like those of a driver, `database.someThing`, that are the connector's own."""

SNAPSHOT_MODES = {
    "never": "no_data",
    "exported": "initial",
    "schema_only": "no_data",
    "initial_schema_only": "no_data",
    "schema_only_recovery": "recovery",
}

HISTORIES = {
    "io.debezium.relational.history.KafkaDatabaseHistory": "io.debezium.storage.kafka.history.KafkaSchemaHistory",
    "io.debezium.relational.history.FileDatabaseHistory": "io.debezium.storage.file.history.FileSchemaHistory",
    "io.debezium.relational.history.MemoryDatabaseHistory": "io.debezium.relational.history.MemorySchemaHistory",
}

UNWRAPS = {
    "io.debezium.transforms.UnwrapFromEnvelope": "io.debezium.transforms.ExtractNewRecordState",
    "io.debezium.connector.mongodb.transforms.UnwrapFromMongoDbEnvelope": (
        "io.debezium.connector.mongodb.transforms.ExtractNewDocumentState"
    ),
}
"""Transforms that have another name today."""

UNWRAP_TYPES = tuple(UNWRAPS.values())

DELETES = {
    # (drop.tombstones, delete.handling.mode): delete.tombstone.handling.mode
    ("true", "drop"): "drop",
    ("false", "drop"): "tombstone",
    ("true", "rewrite"): "rewrite",
    ("false", "rewrite"): "rewrite-with-tombstone",
    ("true", "none"): "delete-to-tombstone",
    ("false", "none"): "delete-to-tombstone",
}

SIMPLE_NAMES = (
    "PostgresConnector",
    "MySqlConnector",
    "MariaDbConnector",
    "SqlServerConnector",
    "OracleConnector",
    "MongoDbConnector",
    "Db2Connector",
)
"""Debezium's connectors as Connect lets one write them, without their packages."""

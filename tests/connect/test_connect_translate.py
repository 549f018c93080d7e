"""Old options of connectors in today's words.

Oracle: the option names of Debezium 1.2 and 3.6, by hand from their documentation.
"""

from __future__ import annotations

import pytest

from headwater.connect.translate import translate

POSTGRES = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "plugin.name": "pgoutput",
}
MYSQL = {"connector.class": "io.debezium.connector.mysql.MySqlConnector"}

CLAIMS = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "tasks.max": "1",
    "database.hostname": "postgres",
    "database.port": "5432",
    "database.user": "postgres",
    "database.password": "postgres",
    "database.dbname": "postgres",
    "database.server.name": "pg_claims",
    "table.whitelist": "claims.accident_claims",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "decimal.handling.mode": "double",
}


def test_the_options_of_the_claims_demo_become_todays() -> None:
    done = translate(CLAIMS)
    assert list(done.config.items()) == [
        ("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
        ("tasks.max", "1"),
        ("database.hostname", "postgres"),
        ("database.port", "5432"),
        ("database.user", "postgres"),
        ("database.password", "postgres"),
        ("database.dbname", "postgres"),
        ("topic.prefix", "pg_claims"),
        ("table.include.list", "claims.accident_claims"),
        ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("value.converter.schemas.enable", "false"),
        ("decimal.handling.mode", "double"),
        ("plugin.name", "pgoutput"),
    ]
    assert done.notes == (
        "'database.server.name' is now called 'topic.prefix'",
        "'table.whitelist' is now called 'table.include.list'",
        "'plugin.name' is set to pgoutput, which every Postgres has; without it decoderbufs is asked for",
    )


def test_what_is_translated_is_not_translated_again() -> None:
    once = translate(CLAIMS).config
    assert translate(once).config == once
    assert translate(once).notes == ()


@pytest.mark.parametrize(
    ("base", "old", "new"),
    [
        (POSTGRES, {"schema.blacklist": "a"}, {"schema.exclude.list": "a"}),
        (POSTGRES, {"column.blacklist": "a.b.c"}, {"column.exclude.list": "a.b.c"}),
        (POSTGRES, {"column.whitelist": "a.b.c"}, {"column.include.list": "a.b.c"}),
        (POSTGRES, {"slot.drop_on_stop": "true"}, {"slot.drop.on.stop": "true"}),
        (POSTGRES, {"toasted.value.placeholder": "x"}, {"unavailable.value.placeholder": "x"}),
        (POSTGRES, {"heartbeat.topics.prefix": "x"}, {"topic.heartbeat.prefix": "x"}),
        (POSTGRES, {"transaction.topic": "x"}, {"topic.transaction": "x"}),
        (POSTGRES, {"plugin.name": "wal2json_rds"}, {"plugin.name": "pgoutput"}),
        (POSTGRES, {"snapshot.mode": "never"}, {"snapshot.mode": "no_data"}),
        (POSTGRES, {"snapshot.mode": "exported"}, {"snapshot.mode": "initial"}),
        (POSTGRES, {"truncate.handling.mode": "include"}, {"skipped.operations": "none"}),
        (POSTGRES, {"truncate.handling.mode": "skip"}, {}),
        (POSTGRES, {"sanitize.field.names": "true"}, {"field.name.adjustment.mode": "avro"}),
        (POSTGRES, {"sanitize.field.names": "false"}, {}),
        (POSTGRES, {"source.struct.version": "v1"}, {}),
        (POSTGRES, {"table.whitelist": "a.b", "table.include.list": "c.d"}, {"table.include.list": "c.d"}),
        (MYSQL, {"database.whitelist": "inventory"}, {"database.include.list": "inventory"}),
        (
            MYSQL,
            {
                "database.history": "io.debezium.relational.history.KafkaDatabaseHistory",
                "database.history.kafka.bootstrap.servers": "kafka:9092",
                "database.history.kafka.topic": "history",
                "database.history.store.only.monitored.tables.ddl": "true",
            },
            {
                "schema.history.internal": "io.debezium.storage.kafka.history.KafkaSchemaHistory",
                "schema.history.internal.kafka.bootstrap.servers": "kafka:9092",
                "schema.history.internal.kafka.topic": "history",
                "schema.history.internal.store.only.captured.tables.ddl": "true",
            },
        ),
        (MYSQL, {"snapshot.mode": "schema_only_recovery"}, {"snapshot.mode": "recovery"}),
        (MYSQL, {"database.allowPublicKeyRetrieval": "true"}, {"driver.allowPublicKeyRetrieval": "true"}),
        (
            MYSQL,
            {"event.deserialization.failure.handling.mode": "warn"},
            {"event.processing.failure.handling.mode": "warn"},
        ),
        (
            {"connector.class": "io.debezium.connector.sqlserver.SqlServerConnector"},
            {"database.dbname": "shop"},
            {"database.names": "shop"},
        ),
        (
            POSTGRES,
            {
                "transforms.u.type": "io.debezium.transforms.UnwrapFromEnvelope",
                "transforms.u.drop.tombstones": "false",
                "transforms.u.delete.handling.mode": "rewrite",
                "transforms.u.operation.header": "true",
                "transforms.u.add.source.fields": "lsn, table",
            },
            {
                "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState",
                "transforms.u.delete.tombstone.handling.mode": "rewrite-with-tombstone",
                "transforms.u.add.headers": "op",
                "transforms.u.add.fields": "source.lsn,source.table",
            },
        ),
    ],
)
def test_an_old_option_becomes_a_new_one_with_a_note(
    base: dict[str, str], old: dict[str, str], new: dict[str, str]
) -> None:
    done = translate(base | old)
    untouched = {name: value for name, value in base.items() if name not in old}
    assert done.config == untouched | new
    assert all(any(f"'{name}" in note for note in done.notes) for name in old)


@pytest.mark.parametrize(
    "config",
    [
        {
            **POSTGRES,
            "plugin.name": "decoderbufs",
            "table.include.list": "a.b",
            "database.tcpKeepAlive": "true",
        },
        {**POSTGRES, "snapshot.select.statement.overrides": "a.b", "database.sslmode": "require"},
        {"connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector", "table.whitelist": "a"},
    ],
)
def test_what_is_of_today_or_not_debeziums_stays(config: dict[str, str]) -> None:
    done = translate(config)
    assert (done.config, done.notes) == (config, ())


def test_a_connector_without_its_package_is_debeziums_too() -> None:
    assert translate({"connector.class": "PostgresConnector"}).config["plugin.name"] == "pgoutput"


def test_notes_show_no_values() -> None:
    done = translate({**POSTGRES, "database.server.name": "sesame", "table.whitelist": "sesame"})
    assert len(done.notes) == 2 and "sesame" not in " ".join(done.notes)

"""Claims over Debezium and Kafka into an index: the files of one demo and the commands to look inside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.demo.package_files import connector_file, sql_file
from headwater.demo.session import DemoFolder
from headwater.demo.stage import Notes, notes_of
from headwater.errors import UsageError

NAME = "claims-kafka"
INDEX = "agg_insurance_costs"
CONNECTOR = "claims-connector"
CLAIMS_TOPIC, MEMBERS_TOPIC = "pg_claims.claims.accident_claims", "pg_claims.claims.members"

JDBC, CDC = MEMBERS = ("jdbc", "cdc")
"""How members are read: once when the pipeline starts, or as they change."""

TABLES = {JDBC: "claims_tables.sql", CDC: "claims_tables_cdc.sql"}
TOPICS = {JDBC: (CLAIMS_TOPIC,), CDC: (CLAIMS_TOPIC, MEMBERS_TOPIC)}

MOVES = {JDBC: 0, CDC: 10}
"""Of about a hundred changes so many are members who change company; who reads members once does not see them."""

BOTH_TABLES = {
    "table.whitelist": "claims.accident_claims,claims.members",
    # With the ends of transactions a batch never shows one topic without the other.
    "provide.transaction.metadata": "true",
}
"""What the connector is told besides, where members are read as they change."""


@dataclass(frozen=True)
class Files:
    """What one demo runs, written where people can read it, edit a copy and use it from another terminal."""

    tables: Path
    pipeline: Path
    connector: Path


def members_of(folder: DemoFolder, asked: str | None) -> str:
    """How members are read: as asked, else as the demo was begun; it cannot be changed on the way."""
    notes = notes_of(folder)
    if notes is None or asked in (None, notes.variant):
        return asked or (notes.variant if notes else JDBC)
    raise UsageError(
        f"this demo was begun with --members {notes.variant}",
        detail=f"The topics and the index in {folder.path} belong to that.",
        hint="Begin anew with --fresh, or give this one a folder of its own with --state DIR.",
    )


def write_files(folder: DemoFolder, notes: Notes) -> Files:
    """Write the demo's files with the addresses it has."""
    more = BOTH_TABLES if notes.variant == CDC else {}
    texts = {
        "tables.sql": (tables := sql_file(TABLES[notes.variant], notes.ports)),
        "claims-kafka.sql": f"{tables}\n{sql_file('claims_costs.sql', notes.ports)}",
        "register-postgres.json": connector_file("register-postgres.json", notes.ports, more=more),
    }
    for name, text in texts.items():
        (folder.path / name).write_text(text, encoding="utf-8")
    return Files(*(folder.path / name for name in texts))


def commands(folder: DemoFolder, notes: Notes) -> list[str]:
    """What to type in another terminal to look inside."""
    ports = notes.ports
    return [
        f"curl {ports.worker}/connectors/{CONNECTOR}/status",
        f"curl '{ports.search}/{INDEX}/_search?pretty&size=100'",
        *(f"headwater tail {topic} --bootstrap {ports.broker}" for topic in TOPICS[notes.variant]),
        f"headwater sql {folder.path}/tables.sql -e 'SELECT * FROM accident_claims'",
        f'headwater demo psql {NAME}{folder.flag} -c "DELETE FROM accident_claims WHERE claim_id = 7"',
    ]

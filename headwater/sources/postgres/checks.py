"""What must hold before anything is made at the server; each check is one error with a hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwater.errors import Place, SourceError
from headwater.log.text_values import can_read
from headwater.nearest import nearest_hint
from headwater.sources.postgres.catalog import ServerTable
from headwater.sources.postgres.config import CaptureTable
from headwater.sources.postgres.connect import quote
from headwater.sources.postgres.server import Publication
from headwater.sources.postgres.types import family, spark_type

MIN_VERSION = 14

_KINDS = {"v": "a view", "m": "a materialized view", "f": "a foreign table"}


@dataclass(frozen=True)
class Pair:
    """A declared table and what it is at the server."""

    declared: CaptureTable
    found: ServerTable


def check_server(cursor: Any) -> None:
    """The server writes a log we can read, and the role may read it."""
    cursor.execute(
        "SELECT current_setting('server_version_num')::int / 10000, pg_is_in_recovery(),"
        " current_setting('wal_level')"
    )
    version, recovering, wal_level = cursor.fetchone()
    if version < MIN_VERSION:
        raise SourceError(
            f"postgres {version} is too old",
            detail=f"The oldest version whose log is read is {MIN_VERSION}.",
            hint="Upgrade the server.",
        )
    if recovering:
        raise SourceError(
            "the server is a standby",
            detail="Nothing can be made there: neither the publication nor the messages that move the position of an idle"
            " database.",
            hint="Set 'hostname' to the primary. First rows alone can be read of a standby, with 'scan.startup.mode' ="
            " 'snapshot'.",
        )
    if wal_level != "logical":
        raise SourceError(
            "the server does not write its log in logical form",
            detail=f"Its wal_level is '{wal_level}'.",
            hint="As a superuser: ALTER SYSTEM SET wal_level = 'logical'; then restart the server.",
        )
    _check_role(cursor)


def _check_role(cursor: Any) -> None:
    cursor.execute(
        "SELECT rolname, rolsuper OR rolreplication OR coalesce((SELECT pg_has_role(r.oid, 'USAGE')"
        " FROM pg_roles r WHERE r.rolname = 'rds_replication'), false)"
        " FROM pg_roles WHERE rolname = current_user"
    )
    role, may = cursor.fetchone()
    if not may:
        raise SourceError(
            f"role '{role}' may not read the log",
            detail="It lacks the attribute REPLICATION.",
            hint=f"As a superuser: ALTER ROLE {quote(role)} REPLICATION;",
        )


def check_free_slots(cursor: Any, wanted: int) -> None:
    """There is room for the slots a start makes."""
    cursor.execute(
        "SELECT current_setting('max_replication_slots')::int, (SELECT count(*) FROM pg_replication_slots),"
        " current_setting('max_wal_senders')::int, (SELECT count(*) FROM pg_stat_replication)"
    )
    slots, used, senders, busy = cursor.fetchone()
    if used + wanted > slots:
        raise SourceError(
            "the server has no free replication slot",
            detail=f"{used} of {slots} are taken, {wanted} more are needed.",
            hint="Drop a slot nobody uses (see pg_replication_slots), or raise max_replication_slots.",
        )
    if busy + 1 > senders:
        raise SourceError(
            "the server has no free connection for its log",
            detail=f"{busy} of {senders} are taken.",
            hint="Raise max_wal_senders.",
        )


def check_table(pair: Pair, *, streamed: bool) -> None:
    """The table can be read as declared."""
    check_kind(pair, streamed=streamed)
    if streamed:
        _check_partitions(pair)
    _check_columns(pair)


def check_kind(pair: Pair, *, streamed: bool) -> None:
    """It is a table and, if streamed, one that is logged."""
    found, declared = pair.found, pair.declared
    name = f"{found.schema}.{found.name}"
    if found.kind in _KINDS:
        raise SourceError(
            f"'{name}' is {_KINDS[found.kind]}",
            detail="The log has only the changes of tables.",
            hint="Declare the tables it reads, and make it a view in Headwater.",
            place=declared.place,
        )
    if found.unlogged and streamed:
        raise _silent(f"table '{name}' is unlogged", f"{in_sql(found)} SET LOGGED", declared.place)


def _check_partitions(pair: Pair) -> None:
    """All of its partitions are logged."""
    for one in pair.found.partitions.values():
        if one.silent:
            name = f"{quote(one.schema)}.{quote(one.name)}"
            mend = (
                f"{name} SET LOGGED"
                if one.silent == "unlogged"
                else f"{in_sql(pair.found)} DETACH PARTITION {name}"
            )
            raise _silent(f"partition '{one.shown}' is {one.silent}", mend, pair.declared.place)


def _silent(message: str, mend: str, place: Place | None) -> SourceError:
    return SourceError(
        message, detail="Its changes do not stand in the log.", hint=f"ALTER TABLE {mend};", place=place
    )


def _check_columns(pair: Pair) -> None:
    found, declared = pair.found, pair.declared
    if not declared.own:
        raise SourceError(
            f"table '{declared.shown}' declares no column of '{found.schema}.{found.name}'",
            detail="All of its columns are METADATA.",
            hint=f"Declare at least one of {', '.join(c.name for c in found.columns)}.",
            place=declared.place,
        )
    for column in declared.own:
        at_server = found.column(column.name)
        if at_server is None:
            raise SourceError(
                f"table '{found.schema}.{found.name}' has no column '{column.name}'",
                detail=f"Its columns are {', '.join(c.name for c in found.columns)}.",
                hint=nearest_hint(column.name, [c.name for c in found.columns], "columns"),
                place=declared.place,
            )
        if at_server.generated:
            raise SourceError(
                f"column '{column.name}' of table '{found.schema}.{found.name}' is generated",
                detail="Postgres does not write generated columns to its log.",
                hint=f"Declare it as a computed column: {column.name} AS <expression>.",
                place=declared.place,
            )
        if not can_read(family(at_server.type), column.type):
            natural = spark_type(at_server.type)
            raise SourceError(
                f"column '{column.name}' of table '{found.schema}.{found.name}' cannot be read as"
                f" {column.type}",
                detail=f"At the server it is {natural if natural != 'string' else at_server.type.name}.",
                hint=f"Declare it as {natural.upper()}"
                + ("." if natural == "string" else " or STRING, and cast it in a view."),
                place=declared.place,
            )


def check_select(cursor: Any, pair: Pair) -> None:
    """The role may read the first rows, all of them."""
    found, declared = pair.found, pair.declared
    names = [c.name for d in declared.own if (c := found.column(d.name)) is not None]
    cursor.execute(
        "SELECT current_user::text, has_schema_privilege(%s, 'USAGE'), row_security_active(%s::oid),"
        " (SELECT bool_and(has_column_privilege(%s::oid, c, 'SELECT')) FROM unnest(%s) c)",
        (found.schema, found.oid, found.oid, names),
    )
    role, usage, hidden, select = cursor.fetchone()
    name = f"{found.schema}.{found.name}"
    if not usage or not select:
        what = f"USAGE ON SCHEMA {quote(found.schema)}" if not usage else f"SELECT ON {in_sql(found)}"
        raise SourceError(
            f"role '{role}' may not read table '{name}'",
            detail=f"It lacks the privilege {what}.",
            hint=f"As the owner: GRANT {what} TO {quote(role)};",
            place=declared.place,
        )
    if hidden:
        raise SourceError(
            f"row security hides rows of table '{name}' from role '{role}'",
            detail="The snapshot would miss rows that the log then speaks of.",
            hint=f"As a superuser: ALTER ROLE {quote(role)} BYPASSRLS;",
            place=declared.place,
        )


def check_publication(found: Publication | None, name: str, pairs: Sequence[Pair]) -> None:
    """A publication that is there already publishes all there is of the tables in it."""
    if found is None:
        return
    if not found.complete:
        raise SourceError(
            f"publication '{name}' does not publish every kind of change",
            detail="Inserts, updates, deletes and truncates are needed.",
            hint=f"ALTER PUBLICATION {quote(name)} SET (publish = 'insert, update, delete, truncate');",
        )
    for pair in pairs:
        table = (pair.found.schema, pair.found.name)
        if table in found.filtered:
            raise SourceError(
                f"publication '{name}' publishes only a part of table '{table[0]}.{table[1]}'",
                detail="It has a row filter or a column list.",
                hint="Use a publication without one, by 'debezium.publication.name' or none.",
                place=pair.declared.place,
            )
        if pair.found.kind == "p" and not found.via_root:
            raise SourceError(
                f"publication '{name}' publishes the partitions of '{table[0]}.{table[1]}' one by one",
                detail="Its changes would come under the names of the partitions.",
                hint=f"ALTER PUBLICATION {quote(name)} SET (publish_via_partition_root = true);",
                place=pair.declared.place,
            )


def check_publish(cursor: Any, found: Publication | None, pairs: Sequence[Pair], *, name: str) -> None:
    """The role may publish the tables that are not published yet; messages need a publication too."""
    if found is not None and not pairs:
        return
    cursor.execute(
        "SELECT rolname, rolsuper, current_database(), has_database_privilege(current_database(), 'CREATE')"
        " FROM pg_roles WHERE rolname = current_user"
    )
    role, superuser, database, create = cursor.fetchone()
    if superuser:
        return
    tables = ", ".join(in_sql(pair.found) for pair in pairs)
    by_hand = f"CREATE PUBLICATION {quote(name)}{' FOR TABLE ' if pairs else ''}{tables}"
    if found is None and not create:
        raise SourceError(
            f"role '{role}' may not make a publication",
            detail=f"It lacks the privilege CREATE on database '{database}'.",
            hint=f"GRANT CREATE ON DATABASE {quote(database)} TO {quote(role)}; or, as one who may:"
            f" {by_hand} WITH (publish_via_partition_root = true);",
        )
    if found is not None and not found.owned:
        raise SourceError(
            f"publication '{name}' lacks tables, and role '{role}' may not add them",
            detail=f"It belongs to another role. The tables are {tables}.",
            hint=f"As its owner: ALTER PUBLICATION {quote(name)} ADD TABLE {tables};",
        )
    for pair in pairs:
        cursor.execute(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = %s", (pair.found.oid,)
        )
        if not cursor.fetchone()[0]:
            raise SourceError(
                f"role '{role}' may not publish table '{pair.found.schema}.{pair.found.name}'",
                detail="Only the owner of a table may add it to a publication.",
                hint=f"As the owner: {by_hand} WITH (publish_via_partition_root = true);",
                place=pair.declared.place,
            )


def in_sql(table: ServerTable) -> str:
    """Its name in SQL, for hints."""
    return f"{quote(table.schema)}.{quote(table.name)}"

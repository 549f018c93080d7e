"""What the trace of a failed connector means, and what to do about it."""

from __future__ import annotations

import re

from headwater.connect.files import without

HINTS = (
    # what the trace says: what to do; the first that fits
    (
        r"password authentication failed|Access denied for user|Login failed for user|no password was provided",
        "Check 'database.user' and 'database.password', then register the file again.",
    ),
    (
        r"replication slot .* is active|is active for PID|is already active",
        "Someone else reads this slot: stop the other connector or pipeline, or give this one a 'slot.name' of"
        " its own.",
    ),
    (
        r"wal_level|logical decoding requires",
        "As a superuser of the database: ALTER SYSTEM SET wal_level = 'logical'; then restart the server.",
    ),
    (
        r"could not access file \"(decoderbufs|wal2json)|decoderbufs|wal2json",
        "The server has no such plugin: set 'plugin.name' to pgoutput, which every Postgres has.",
    ),
    (
        r"Failed to find any class that implements Connector|No connector plugin|ClassNotFoundException",
        "Put the connector's plugin into the worker's plugin.path and restart the worker.",
    ),
    (
        r"no pg_hba\.conf entry",
        "Add a line for the worker's host, the database and the role to the server's pg_hba.conf.",
    ),
    (
        r"must be superuser or replication role|REPLICATION attribute|permission denied to use replication",
        "As a superuser: ALTER ROLE ... REPLICATION;",
    ),
    (
        r"permission denied for (database|table)|must be owner of table|Unable to create (filtered )?publication",
        "The role may not make the publication: make it by hand and name it in 'publication.name', or grant"
        " CREATE on the database and ownership of the tables.",
    ),
    (
        r"all replication slots are in use",
        "Drop a slot nobody uses (see pg_replication_slots), or raise max_replication_slots.",
    ),
    (
        r"binlog_format|not configured to use a ROW binlog|binary logging",
        "The server must write its binlog in ROW format: binlog_format=ROW, binlog_row_image=FULL.",
    ),
    (
        r"database \".*\" does not exist|Unknown database",
        "Check 'database.dbname'.",
    ),
    (
        r"Connection (to .* )?refused|connection attempt failed|UnknownHost|Communications link failure|timed out",
        "Check 'database.hostname' and 'database.port' as the worker sees them, which need not be as you do.",
    ),
)

OTHERWISE = "See the worker's log for more. When the cause is gone: headwater connect restart NAME --tasks."


def hint_for(trace: str, name: str = "NAME") -> str:
    """What to do about a trace, or about the text of a refusal."""
    for pattern, hint in HINTS:
        if re.search(pattern, trace, re.IGNORECASE):
            return hint
    return OTHERWISE.replace("NAME", name)


def reason_of(trace: str, hidden: tuple[str, ...] = ()) -> str:
    """The first line of a trace and, if it is another, the cause at the bottom of it; nothing secret.

    >>> reason_of("E: cannot start\\n\\tat a.B\\nCaused by: X: no password\\n\\tat c.D")
    'E: cannot start (X: no password)'
    """
    lines = [line.strip() for line in trace.strip().splitlines()]
    if not lines:
        return "It left no trace."
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    last = f" ({causes[-1]})" if causes and causes[-1] not in lines[0] else ""
    return without(lines[0] + last, hidden)

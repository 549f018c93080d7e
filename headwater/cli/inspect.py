"""`headwater explain`, `verify`, `resnapshot` and `drop`: look inside a pipeline, read a table again, remove it."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from headwater.cli.render import OnceView
from headwater.cli.run import script_of
from headwater.cli.stop import Stop
from headwater.errors import UsageError
from headwater.runtime.inspect import (
    analyze_state,
    drop_state,
    explain_script,
    resnapshot_state,
    verify_state,
)


def inspect_command(given: argparse.Namespace) -> int:
    """Run the command that was typed and return its exit code."""
    match given.command:
        case "explain":
            if given.state is not None:
                return analyze(given.state, given.file, given.sql)
            return explain(given.file, given.sql)
        case "verify":
            return verify(given.state)
        case "resnapshot":
            return resnapshot(given.state, given.table)
        case _:
            return drop(given.state)


def explain(file: Path | None, sql: str | None) -> int:
    """Print the plans, their strategies and the SQL that maintains them."""
    if file is not None and sql is not None:
        raise UsageError("explain takes a FILE or -e SQL, not both", hint="Leave one of them out.")
    text, name = script_of(file, sql)
    print(explain_script(text, file=name))
    return 0


def analyze(state: Path, file: Path | None, sql: str | None) -> int:
    """EXPLAIN ANALYZE of every view of a saved pipeline."""
    if file is not None or sql is not None:
        raise UsageError("explain takes SQL or --state DIR, not both", hint="Leave one of them out.")
    view = OnceView(sys.stdout, sys.stderr, "table")
    with Stop(), closing(view):
        said = analyze_state(state, listener=view)
    print(said)
    return 0


def verify(state: Path) -> int:
    """Recompute every view and compare: 0 if all are equal, 1 if not."""
    view = OnceView(sys.stdout, sys.stderr, "table")
    with Stop(), closing(view):
        differences = verify_state(state, listener=view)
    if not differences:
        print("equal: every view is what its query gives at this cut")
        return 0
    for difference in differences:
        print(f"different: {difference.relation}: {difference.detail}")
    return 1


def resnapshot(state: Path, table: str) -> int:
    """Let the first rows of a table be read again at the next start."""
    view = OnceView(sys.stdout, sys.stderr, "table")
    with Stop(), closing(view):
        results = resnapshot_state(state, table, listener=view)
    print(f"the rows of {table} are read again at the next start")
    if results:
        print(f"computed anew then: {', '.join(results)}")
    return 0


def drop(state: Path) -> int:
    """Remove what a pipeline has made: at the source first, then its state."""
    view = OnceView(sys.stdout, sys.stderr, "table")
    with Stop(), closing(view):
        drop_state(state, listener=view)
    print(f"dropped {state}")
    return 0

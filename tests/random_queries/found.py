"""What was found, kept as a story: the tables, the views, and every change, so that it can be told again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from tests.random_queries.batches import Change
from tests.random_queries.shrink import Case
from tests.random_queries.tables import TABLES, Table
from tests.random_queries.trial import Failure
from tests.stories.story import as_lines
from tests.stories.values_text import text_of

FOLDER = Path(__file__).parent.parent / "stories" / "found"


def keep(case: Case, failure: Failure) -> Path:
    """Write the story; its name is made from its text."""
    text = story(case, failure)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"query-{hashlib.sha256(text.encode()).hexdigest()[:8]}.story"
    path.write_text(text, encoding="utf-8")
    return path


def story(case: Case, failure: Failure) -> str:
    """The text of a story."""
    read = [table for table in TABLES if any(_reads(view.sql, table.name) for view in case.views)]
    blocks = [f"# A random query that was not true: {' '.join(failure.what.split())[:300]}"]
    blocks += [f"> {table.ddl};" for table in read]
    blocks += [f"> CREATE VIEW {view.name} AS\n  {view.sql};" for view in case.views]
    for step in case.steps:
        for transaction in step:
            blocks += [
                _change(table, transaction[table.name]) for table in read if transaction.get(table.name)
            ]
        blocks.append("$ step")
    return "\n\n".join(blocks) + "\n"


def _reads(sql: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", sql) is not None


def _change(table: Table, changes: list[Change]) -> str:
    return "\n".join(
        [f"$ change {table.name}", *as_lines(["op", *table.schema.names], list(_cells(changes)))]
    )


def _cells(changes: list[Change]) -> Iterator[list[str]]:
    for sign, row in changes:
        yield [sign, *(text_of(value) for value in row.values())]

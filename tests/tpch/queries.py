"""The 22 queries of TPC-H, each in a file of `queries/`, and the views they are.

They are the specification's, with other parameters: with the usual ones several of them are empty at scale 0.01,
or never change under a refresh. Where a LIMIT cuts, ORDER BY goes on to the last column, so that ties are decided;
where nothing is cut there is no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot import exp

NAMES = tuple(f"q{number}" for number in range(1, 23))
"""The views in the order of the specification."""

FRACTION = "0.0005"
"""The share of all stock that counts as important in q11, at scale 0.01."""


@cache
def query_texts(scale: float = 0.01) -> Mapping[str, str]:
    """The text of each query; that of q11 depends on the scale, as the specification says."""
    folder = Path(__file__).parent / "queries"
    texts = {f"q{int(path.stem[1:])}": path.read_text().strip() for path in sorted(folder.glob("q*.sql"))}
    assert tuple(texts) == NAMES and texts["q11"].count(FRACTION) == 1
    important = f"{float(FRACTION) * 0.01 / scale:.12f}".rstrip("0")
    return texts | {"q11": texts["q11"].replace(FRACTION, important)}


def view_declarations(scale: float = 0.01) -> str:
    """The 22 CREATE VIEW statements."""
    return "\n".join(f"CREATE VIEW {name} AS\n{text};" for name, text in query_texts(scale).items())


@cache
def tables_read(text: str) -> frozenset[str]:
    """The tables that a query reads."""
    query = sqlglot.parse_one(text, dialect="spark")
    named = {table.name for table in query.find_all(exp.Table)}
    return frozenset(named - {cte.alias for cte in query.find_all(exp.CTE)})

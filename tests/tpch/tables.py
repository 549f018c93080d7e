"""The eight tables of TPC-H at any scale: made by `tpchgen-cli`, kept as Parquet, read as Arrow.

make_data(folder, scale=0.01)
rows = read_data(folder)           # {"region": <Arrow table>, ...}
script = declarations()            # CREATE TABLE ... WITH ('connector' = 'values'), eight times
"""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

Rows: TypeAlias = Mapping[str, pa.Table]
"""What each table holds."""

KEYS = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "customer": ("c_custkey",),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
"""The columns that identify a row of each table."""


def declarations() -> str:
    """The eight CREATE TABLE statements."""
    return Path(__file__).with_name("tables.sql").read_text()


def make_data(folder: Path, *, scale: float) -> None:
    """Write the tables of a scale into a folder, a Parquet file each; a scale always has the same rows."""
    program = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
    where = ["--scale-factor", f"{scale:g}", "--output-dir", str(folder)]
    subprocess.run([program, "parquet", "--quiet", "--overwrite", *where], check=True)


def read_data(folder: Path) -> Rows:
    """The tables that were written into a folder."""
    return {name: plain_strings(pq.read_table(folder / f"{name}.parquet")) for name in KEYS}


def plain_strings(rows: pa.Table) -> pa.Table:
    """The same rows with ordinary strings: Arrow has no way to take rows out of string views."""
    kinds = [pa.string() if pa.types.is_string_view(field.type) else field.type for field in rows.schema]
    names = rows.schema.names
    return rows.cast(pa.schema([pa.field(n, kind) for n, kind in zip(names, kinds, strict=True)]))

"""Looking inside: explain, verify, and verify after a saved row was changed behind its back.

Oracle: what was damaged is known, so what verify must say is known.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.incremental.change_plan import sums_relation
from headwater.runtime.progress import Progress
from headwater.services.postgres import EmbeddedPostgres
from tests.pipeline.world import command, made_database, pipeline, source
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]

VIEWS = """
CREATE VIEW totals AS SELECT customer, SUM(amount) AS total FROM orders WHERE amount > 0 GROUP BY customer;
CREATE VIEW large AS SELECT id, customer FROM orders WHERE amount >= 50;
"""


@dataclass(frozen=True)
class Kept:
    """A pipeline that was run and stopped."""

    script: Path
    state: Path

    def copy(self, folder: Path) -> Path:
        """Its state, to be damaged."""
        return Path(shutil.copytree(self.state, folder / "state"))


@pytest.fixture(scope="module")
def kept(server: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The state of a pipeline over a few orders, some of them changed after the snapshot."""
    folder = tmp_path_factory.mktemp("kept")
    with made_database(server) as database:
        script = make(database)
        with pipeline(script, folder) as running:
            running.run_once()
            # In one transaction, so that one run holds what came of it.
            database.together("UPDATE orders SET amount = 70 WHERE id = 1", "DELETE FROM orders WHERE id = 2")
            running.run_once()
        (folder / "pipeline.sql").write_text(script)
        yield Kept(folder / "pipeline.sql", folder / "state")


def make(database: Database) -> str:
    """The table, and the script over it."""
    database.run("CREATE TABLE orders (id int PRIMARY KEY, customer text, amount int)")
    database.run("INSERT INTO orders VALUES (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 60), (4, 'cleo', 80)")
    database.run("ALTER TABLE orders REPLICA IDENTITY FULL")
    return source(database, "orders", "(id INT, customer STRING, amount INT)") + VIEWS


def test_explain_prints_plan_strategies_and_the_sql_that_maintains(kept: Kept) -> None:
    ran = command("explain", kept.script)
    assert ran.code == 0, ran.err
    for piece in (
        "== view totals ==",
        "== view large ==",
        "-- plan",
        'when "orders" changes',
        "linear",
        "amount > 0",
        "GROUP BY",
        "__hw_weight",
    ):
        assert piece in ran.out, ran.out


def test_verify_says_equal(kept: Kept) -> None:
    ran = command("verify", "--state", kept.state)
    assert (ran.code, ran.out) == (0, "equal: every view is what its query gives at this cut\n")


Damage = Callable[[pa.Table], pa.Table]


def add_to(column: str) -> Damage:
    """Change a row of ann's that came."""

    def damaged(table: pa.Table) -> pa.Table:
        values = table.column(column).to_pylist()
        saved = table.to_pylist()
        place = next(i for i, row in enumerate(saved) if row["__hw_weight"] == 1 and "ann" in row.values())
        values[place] += 1000
        index = table.column_names.index(column)
        return table.set_column(
            index, table.schema.field(column), pa.array(values, table.schema.field(column).type)
        )

    return damaged


def damage(state: Path, relation: str, how: Damage) -> None:
    """Rewrite the last saved run of a relation."""
    progress = Progress(state)
    path = progress.relations[relation].state.paths[-1]
    progress.close()
    table = how(pq.read_table(path, partitioning=None))
    path.unlink()
    pq.write_table(table, path)


SUMS = sums_relation("totals")


@pytest.mark.parametrize(
    ("relation", "column", "named"),
    [
        ("totals", "total", [("totals", "customer = ann", "saved")]),
        ("large", "id", [("large", "customer = ann", "expected 1 row, saved no such row")]),
        (SUMS, "", [(SUMS, "= ann", "saved")]),
        ("orders", "amount", [("totals", "customer = ann", "saved"), (SUMS, "= ann", "saved")]),
    ],
    ids=["view", "projection", "partial sums", "table"],
)
def test_verify_names_the_relation_and_the_row_that_was_damaged(
    kept: Kept, tmp_path: Path, relation: str, column: str, named: list[tuple[str, ...]]
) -> None:
    state = kept.copy(tmp_path)
    damage(state, relation, add_to(column or sum_column(state)))
    ran = command("verify", "--state", state)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert all(line.startswith("different: ") for line in lines)
    for where, *pieces in named:
        about = [line for line in lines if line.startswith(f"different: {where}: ")]
        assert any(all(piece in line for piece in pieces) for line in about), ran.out
    assert not any("cleo" in line for line in lines), "an undamaged row is named"


def sum_column(state: Path) -> str:
    """A column of the partial sums that holds a sum."""
    progress = Progress(state)
    names = progress.relations[SUMS].state.schema.names
    progress.close()
    return names[-1]


def test_verify_says_which_file_is_gone_or_broken(kept: Kept, tmp_path: Path) -> None:
    gone, broken = tmp_path / "gone", tmp_path / "broken"
    for folder in (gone, broken):
        shutil.copytree(kept.state, folder)
        progress = Progress(folder)
        path = progress.relations["totals"].state.paths[0]
        progress.close()
        if folder == gone:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:-40])
    ran = command("verify", "--state", gone)
    assert (ran.code, ran.out) == (1, f"different: totals: the file {path.name} is missing\n")
    ran = command("verify", "--state", broken)
    assert ran.code == 1 and "error: the saved state cannot be read" in ran.err
    assert path.name in ran.err and "hint: " in ran.err

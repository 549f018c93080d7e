"""`headwater demo audit` as a program, through Debezium and Kafka.

Oracle: the rows of the first seven statements, by hand; then the table itself, which the told changes must lead to.
"""

from __future__ import annotations

import csv
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tests.demo.played import HEADWATER, PATIENCE, Demo, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

FIRST = [
    # holding_id, user_id, change_field, old_value, new_value, crud_type
    (1001, 2, "holding_quantity", None, "1", "c"),
    (1001, 2, "holding_stock", None, "SP500", "c"),
    (1002, 3, "holding_quantity", None, "1", "c"),
    (1002, 3, "holding_stock", None, "SP500", "c"),
    (1000, 1, "holding_quantity", "10", "100", "u"),
    (1002, 3, "holding_quantity", "1", "", "d"),
    (1002, 3, "holding_stock", "SP500", "", "d"),
    (1001, 2, "holding_quantity", "1", "", "d"),
    (1001, 2, "holding_stock", "SP500", "", "d"),
    (1003, 3, "holding_quantity", None, "100", "c"),
    (1003, 3, "holding_stock", None, "VTSAX", "c"),
    (1003, 3, "holding_quantity", "100", "10", "u"),
]

Pivot = list[tuple[Any, ...]]


def pivot(uri: str) -> Pivot:
    """The rows of the table, in the order in which they happened."""
    client = psycopg2.connect(uri)
    try:
        with client, client.cursor() as cursor:
            cursor.execute(
                "SELECT holding_id, user_id, change_field, old_value, new_value, crud_type FROM holding_pivot"
                " ORDER BY datetime_inserted, change_field"
            )
            return list(cursor.fetchall())
    finally:
        client.close()


def lines(file: Path) -> Pivot:
    """The same of the text, in any order."""
    with file.open(newline="") as text:
        rows = [[None if value == "NULL" else value for value in row] for row in csv.reader(text)]
    return [(int(row[0] or 0), int(row[1] or 0), *row[2:5], row[9]) for row in rows]


def led_to(told: Pivot) -> set[tuple[int, str, str]]:
    """The holdings to which the changes lead, from the one that was there first."""
    found = {(1000, "holding_stock"): "VFIAX", (1000, "holding_quantity"): "10"}
    for holding, _, field, _, new, op in told:
        found[holding, field] = new
        if op == "d":
            del found[holding, field]
    return {(holding, field, value) for (holding, field), value in found.items()}


def held_now(cursor: Any) -> set[tuple[int, str, str]]:
    """The holdings as the table has them."""
    cursor.execute("SELECT holding_id, holding_stock, holding_quantity FROM bank.holding")
    rows = cursor.fetchall()
    stocks = {(holding, "holding_stock", stock) for holding, stock, _ in rows}
    return stocks | {(holding, "holding_quantity", str(quantity)) for holding, _, quantity in rows}


def test_every_change_is_told_and_the_questions_are_answered(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own / "audit"
    folder.mkdir()
    with Demo("audit", folder) as demo:
        # What is numbered from here on comes after the statements that are written down.
        demo.says("+ holding_id=20")
        demo.psql("UPDATE holding SET holding_stock = 'HAND' WHERE holding_id = 1003")
        text = folder / "demo" / "holding-pivot.txt"
        with demo.held("bank.holding") as cursor:
            expected = held_now(cursor)
            assert wait_for(lambda: led_to(pivot(demo.uri)) == expected, PATIENCE), demo.told()
            told = pivot(demo.uri)
            assert told[: len(FIRST)] == FIRST
            assert wait_for(lambda: Counter(lines(text)) == Counter(told), PATIENCE), text.read_text()
            changed = [row for row in told if row[1] == 3 and row[3] not in (None, row[4])]
            first, second = (
                sum(row[2] == field for row in changed) for field in ("holding_stock", "holding_quantity")
            )
            assert first >= 1 and second >= 2
            command = [*HEADWATER, "demo", "psql", "audit", "--state", str(folder / "demo")]
            questions = (folder / "demo" / "questions.sql").read_text()
            said = subprocess.run(command, input=questions, capture_output=True, text=True, timeout=PATIENCE)
            answers = [line.strip() for line in said.stdout.splitlines()[2::5]]
            assert answers[:2] == [str(first), str(second)], said
            stocks = Counter(
                row[3] for row in told if row[2] == "holding_stock" and row[3] not in (None, row[4])
            )
            assert stocks[answers[3]] == max(stocks.values())
            demo.says(f"1 stocks that user 3 changed or sold: {first}\n")
            demo.says(f"2 quantities that user 3 changed: {second}\n")
    demo.leaves_nothing()

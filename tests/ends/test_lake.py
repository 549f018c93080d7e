"""Tables of Delta Lake and Iceberg, written by a Spark of their own.

Oracles: the rows after each transaction, kept in a dictionary; the lakes' own readers, in another session. All facts
are found by one process, and are looked at one by one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ends import lake_child
from tests.ends.lake_world import ALL_TYPES, BATCHES, KINDS, expected, typed_rows

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1200), pytest.mark.parametrize("kind", KINDS)]

HOUSE = Path(__file__).parent.parent.parent

Facts = dict[str, Any]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """All that was found out."""
    folder = tmp_path_factory.mktemp("lake")
    command = [sys.executable, "-m", lake_child.__name__, str(folder)]
    done = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, timeout=1100, check=False)
    assert done.returncode == 0, done.stderr
    found: Facts = json.loads((folder / "facts.json").read_text())
    return found


def test_after_twenty_batches_with_three_repeated_the_table_equals_the_view(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} orders"] == expected()
    assert len(expected()) > 30


def test_each_batch_is_one_commit_and_a_repeated_one_is_none(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} orders commits"] == BATCHES
    assert facts[f"{kind} last"] == BATCHES


def test_a_key_may_be_null_and_be_taken_by_another_row(facts: Facts, kind: str) -> None:
    swapped, _ = facts[f"{kind} keys"]
    assert swapped == [["a", 3], [None, 9]]


def test_of_two_rows_of_a_key_that_only_came_the_last_one_stays(facts: Facts, kind: str) -> None:
    _, after = facts[f"{kind} keys"]
    assert after == [["a", 6], ["c", 5], [None, 9]]
    assert facts[f"{kind} keys commits"] == 3


def test_without_a_key_rows_are_added_each_batch_once(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} bag"] == [["x", 1]] * 4


def test_an_empty_batch_makes_no_commit(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} bag commits"] == 2


def test_a_row_that_goes_from_a_table_without_a_key_is_refused(facts: Facts, kind: str) -> None:
    message, detail, hint = facts[f"{kind} bag takes"]
    assert message == "a row is taken from sink table 'bag', which has no key"
    assert detail and "PRIMARY KEY" in hint


def test_all_types_come_back_as_they_went(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} types"] == [repr(row) for row in typed_rows()]


def test_columns_are_made_with_the_declared_types(facts: Facts, kind: str) -> None:
    declared = [column.type for column in ALL_TYPES]
    if kind == "iceberg":
        declared = [c.replace("tinyint", "int").replace("smallint", "int") for c in declared]
    assert facts[f"{kind} types there"] == declared


def test_a_table_that_is_there_may_have_more_columns(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} more columns"] == [["a", 2, None], ["b", 3, None]]


@pytest.mark.parametrize(
    ("case", "message", "detail", "hint"),
    [
        (
            "another type",
            "column 'v' of sink table 'there' does not fit",
            "bigint here and int there",
            "CAST",
        ),
        ("a missing column", "column 'mor' of sink table 'there' is not in", "k, v, more", "'more'?"),
        ("no key", "sink table 'unkeyed' needs a key", "updates and deletes", "PRIMARY KEY"),
        ("other files", "cannot be made where something else is", "other files", "Name another place"),
        ("a file", "cannot be made where something else is", "There is a file", "Name another place"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    facts: Facts, kind: str, case: str, message: str, detail: str, hint: str
) -> None:
    said = facts[f"{kind} refuses {case}"]
    assert [part in text for part, text in zip((message, detail, hint), said, strict=True)] == [True] * 3, (
        said
    )


def test_what_is_known_of_batches_outlives_the_upkeep_of_the_table(facts: Facts, kind: str) -> None:
    last, has_same_rows, has_same_versions = facts[f"{kind} kept"]
    assert (last, has_same_rows, has_same_versions) == (3, True, True)


def test_two_pipelines_that_write_one_table_at_the_same_time_both_arrive(facts: Facts, kind: str) -> None:
    assert facts[f"{kind} together problems"] == []
    changed = [["row 1", 1], ["row 2", 1]]
    assert facts[f"{kind} together"] == [["one", 2], ["row 0", 0], *changed, ["row 3", 0], ["two", 2]]


def test_a_table_whose_files_are_lost_says_so(facts: Facts, kind: str) -> None:
    message, detail, hint = facts[f"{kind} lost"]
    assert "of sink table 'there' cannot be written" in message
    assert "does not exist" in detail and "removed" in hint
    assert facts[f"{kind} lost last"] == 2

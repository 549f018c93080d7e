"""What a path and its options must be. Oracle: the texts below."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.errors import HeadwaterError, OptionError, SinkError
from headwater.options import Secret
from headwater.sinks.base import SinkContext
from headwater.sinks.filesystem.sink import FILESYSTEM
from tests.ends.filesystem_world import opened, table_of
from tests.ends.postgres_world import changes, schema

ROWS = schema("id int, name string")


def refusal(attempt: Callable[[], object]) -> HeadwaterError:
    with pytest.raises((SinkError, OptionError)) as caught:
        attempt()
    return caught.value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"format": "orc"}, "option 'format' does not take the value 'orc'"),
        ({"format": "parquet"}, "a Parquet file cannot grow"),
        (
            {"format": "csv", "sink__partition_commit__delay": "1 h"},
            "option 'sink.partition-commit.delay' has no meaning here",
        ),
        ({"format": "csv", "json__x": "1"}, "option 'json.x' belongs to no format of the table"),
        (
            {"format": "json", "csv__write_header": "true"},
            "option 'csv.write-header' belongs to no format of the table",
        ),
        ({"format": "csv", "csv__field_delimitr": ";"}, "format 'csv' has no option 'csv.field-delimitr'"),
        ({"format": "raw"}, "format 'raw' has one column, and 2 stand in the value"),
        (
            {"format": "raw", "sink__mode": "snapshot"},
            "format 'raw' cannot be written with 'sink.mode' = 'snapshot'",
        ),
        (
            {"format": "csv", "sink__mode": "changes", "sink__op_column": "ID"},
            "sink table 'out' has a column 'ID', and so is the column of signs called",
        ),
        (
            {"format": "csv", "sink__mode": "snapshot", "csv__disable_quote_character": "true"},
            "'sink.mode' = 'snapshot' needs CSV that can be told apart into rows",
        ),
        (
            {"format": "parquet", "sink__mode": "snapshot", "parquet__compression": "zip"},
            "option 'parquet.compression' does not take the value 'zip'",
        ),
    ],
)
def test_options_that_contradict_are_refused_before_anything_is_written(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    error = refusal(lambda: FILESYSTEM.check(table_of(tmp_path / "out", ROWS, append_only=True, **given)))
    assert error.message == said
    assert list(tmp_path.iterdir()) == []


def test_options_of_flink_that_have_no_effect_are_accepted(tmp_path: Path) -> None:
    given = {
        "sink__rolling_policy__file_size": "1MB",
        "sink__parallelism": "2",
        "source__monitor_interval": "1s",
    }
    FILESYSTEM.check(table_of(tmp_path / "out", ROWS, append_only=True, format="csv", **given))


@pytest.mark.parametrize("path", ["s3://bucket/x", "", " "])
def test_a_path_elsewhere_or_nowhere_is_refused(path: str) -> None:
    error = refusal(lambda: FILESYSTEM.check(table_of(path, ROWS, append_only=True, format="csv")))
    assert "'path'" in error.message


def test_paths_are_relative_to_the_working_folder_and_may_be_urls_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = ["a/x.csv", f"file://{tmp_path}/b/x.csv", f"file:{tmp_path}/c/x.csv", "link.csv"]
    (tmp_path / "d").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "d" / "x.csv")
    for path in paths:
        table = table_of(path, ROWS, format="csv", sink__mode="snapshot")
        opened(table).write([changes(table, (1, 1, path))], 1)
    for folder, path in zip("abcd", paths, strict=True):
        assert (tmp_path / folder / "x.csv").read_text() == f"1,{path}\n"
    one, other = (
        table_of(path, ROWS, format="csv").options for path in ("a/x.csv", f"{tmp_path}/a/../a/x.csv")
    )
    assert FILESYSTEM.group(one) == FILESYSTEM.group(other) == f"filesystem-{tmp_path}/a/x.csv"


def test_two_tables_with_one_path_are_refused(tmp_path: Path) -> None:
    table = table_of(tmp_path / "x.csv", ROWS, format="csv")
    error = refusal(lambda: FILESYSTEM.open([table, table], SinkContext("p")))
    assert error.message == "sink tables 'out' and 'out' have the same path"


def test_append_refuses_a_query_that_updates(tmp_path: Path) -> None:
    table = table_of(tmp_path / "x.csv", ROWS, format="csv", sink__mode="append")
    FILESYSTEM.check(table)
    assert refusal(lambda: opened(table)).message == "sink table 'out' cannot take rows that change or go"


@pytest.mark.parametrize("mode", ["changes", "snapshot"])
def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("mine\n")
    error = refusal(lambda: opened(table_of(path, ROWS, format="csv", sink__mode=mode)))
    assert error.message == f"'{path}' is there already, and no note of who wrote it"
    assert error.detail == "It has 5 bytes, and there is no .x.csv.headwater beside it."
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x.csv", "mine\n")]


def test_another_pipeline_other_columns_and_another_format_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    table = table_of(path, ROWS, format="csv")
    opened(table).write([changes(table, (1, 1, "a"))], 1)
    other = refusal(lambda: opened(table, pipeline="q"))
    assert other.message == f"'{path}' is written by another pipeline"
    assert other.detail == 'It is "p", says .x.csv.headwater; this one is "q".'
    wider = refusal(lambda: opened(table_of(path, schema("id int, name string, more int"), format="csv")))
    assert wider.message == f"'{path}' was begun with other columns"
    assert wider.detail == (
        "It has op string, id int, name string, and the table asks for op string, id int, name string, more int."
    )
    json = refusal(lambda: opened(table_of(path, ROWS, format="json")))
    assert json.message == f"'{path}' was begun with other format"


def test_a_second_process_that_writes_the_same_file_is_noticed(tmp_path: Path) -> None:
    table = table_of(tmp_path / "x.csv", ROWS, format="csv")
    one, other = opened(table), opened(table)
    one.write([changes(table, (1, 1, "a"))], 1)
    error = refusal(lambda: other.write([changes(table, (1, 1, "b"))], 1))
    assert error.message == f"another process writes '{tmp_path}/x.csv', or its note was changed"
    assert (tmp_path / "x.csv").read_text() == "+I,1,a\n"


def test_a_note_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    table = table_of(tmp_path / "x.csv", ROWS, format="csv")
    opened(table)
    for text in ("{", "[]", '{"batch": 1}', '"x"'):
        (tmp_path / ".x.csv.headwater").write_text(text)
        assert refusal(lambda: opened(table)).message == f"the note of '{tmp_path}/x.csv' cannot be read"


def test_a_path_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    folder = refusal(lambda: opened(table_of(f"{tmp_path}/file/", ROWS, format="csv")))
    assert folder.message == f"'{tmp_path}/file/' of sink table 'out' is not a folder"
    pipe = refusal(lambda: opened(table_of(tmp_path / "pipe", ROWS, format="csv")))
    assert pipe.message == f"'{tmp_path}/pipe' of sink table 'out' is not a file"
    within = refusal(lambda: opened(table_of(tmp_path / "file" / "x.csv", ROWS, format="csv")))
    assert within.message == f"'{tmp_path}/file/x.csv' of sink table 'out' cannot be written"
    assert within.hint == "A part of the path is a file: name another path."
    snapshot = table_of(tmp_path, ROWS, format="csv", sink__mode="snapshot")
    assert refusal(lambda: opened(snapshot)).hint == "Name a file in it."


def test_a_place_without_rights_is_an_error() -> None:
    # Nobody, not even root, can make files there.
    error = refusal(lambda: opened(table_of("/proc/headwater/x.csv", ROWS, format="csv")))
    assert error.message == "'/proc/headwater/x.csv' of sink table 'out' cannot be written"
    assert error.detail.endswith(".") and error.hint


def test_a_secret_path_is_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "hidden.csv"
    path.write_text("mine\n")
    table = table_of(path, ROWS, format="csv")
    object.__setattr__(table.options, "path", Secret(str(path)))
    error = refusal(lambda: opened(table))
    assert "hidden" not in f"{error.message} {error.detail} {error.hint} {FILESYSTEM.group(table.options)}"

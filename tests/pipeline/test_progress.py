"""The record of a pipeline. Oracle: the modes the file system tells, and what each sink can be told by its user."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.errors import SinkError
from headwater.log.manifest import FILE, Manifest
from headwater.log.positions import Cut
from headwater.runtime.ends import check_batches
from headwater.runtime.progress import Progress
from headwater.sinks.registry import SINK_TYPES
from headwater.sources.kafka.ledger import Entry, Ledger


def keep_progress(folder: Path) -> object:
    """A record in which something was written."""
    progress = Progress(folder)
    progress.keep_texts({"script": "a password"})
    return progress


def keep_ledger(folder: Path) -> object:
    """A ledger in which something was written."""
    ledger = Ledger(folder)
    ledger.add(Entry(1, {}, {}))
    return ledger


@pytest.mark.parametrize(
    ("keep", "file"), [(keep_progress, "progress.db"), (keep_ledger, "places.db"), (Manifest, FILE)]
)
@pytest.mark.parametrize("made_before", [False, True])
def test_only_the_owner_reads_what_is_kept(
    keep: Callable[[Path], object], file: str, made_before: bool, tmp_path: Path
) -> None:
    usual = os.umask(0)
    try:
        if made_before:
            (tmp_path / file).touch()
        kept = keep(tmp_path)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(usual)
    assert kept is not None
    assert modes == dict.fromkeys((file, f"{file}-wal", f"{file}-shm"), 0o600)


@pytest.mark.parametrize(
    ("connector", "said"),
    [
        ("jdbc", "DELETE FROM headwater_batches WHERE pipeline = 'p'"),
        ("kafka", "under the key that begins with 'p '"),
        ("upsert-kafka", "the topic headwater_batches"),
        ("opensearch", '_delete_by_query {"query": {"term": {"pipeline": "p"}}}'),
        ("elasticsearch-8", "delete its indices"),
    ],
)
def test_a_sink_that_is_ahead_tells_how_it_is_emptied(connector: str, said: str, tmp_path: Path) -> None:
    progress = Progress(tmp_path)
    progress.commit(4, Cut(), {})
    empty = SINK_TYPES[connector].empty.format(pipeline="p")
    check_batches("s", 4, progress, pipeline="p", empty=empty)
    with pytest.raises(SinkError, match='has batch 5 of pipeline "p", this state has 4') as caught:
        check_batches("s", 5, progress, pipeline="p", empty=empty)
    assert said in caught.value.hint and "another name, or" in caught.value.hint

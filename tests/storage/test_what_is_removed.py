"""What is removed of a folder: what a pipeline made there, and nothing else. Oracle: the files as a test laid them."""

from __future__ import annotations

from pathlib import Path

from headwater.tables import lookup


def laid(*paths: Path) -> list[Path]:
    """Files with nothing in them."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return list(paths)


def test_a_relation_may_be_called_as_what_is_kept_beside_runs(tmp_path: Path) -> None:
    # On shared storage the folder of a turn may lie between a relation and its runs.
    homes = [tmp_path / name / turn for name in ("orders", lookup.FOLDER) for turn in ("", "t12")]
    runs = laid(*(home / "7-c.parquet" for home in homes))
    beside = laid(*(home / lookup.FOLDER / "7-c-1" / "0.order" for home in homes))
    lookup.forget_all(tmp_path)
    assert all(path.exists() for path in runs)
    assert not any(path.parent.parent.exists() for path in beside)

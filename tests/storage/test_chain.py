"""Records on shared storage: each number is given once, whoever tries.

Oracle: what was written, by whom it was written first.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.errors import StateError
from headwater.storage.chain import Chain


def test_of_many_who_write_one_number_one_does_and_all_of_his_content_is_there(tmp_path: Path) -> None:
    chain, contents = Chain(tmp_path / "c"), [str(n).encode() * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as tries:
        done = list(tries.map(lambda content: chain.add(1, content), contents))
    assert sum(done) == 1
    assert chain.read(1) == contents[done.index(True)]
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["000000000001.json"]


def test_records_are_told_up_to_the_first_that_is_missing(tmp_path: Path) -> None:
    chain = Chain(tmp_path)
    for number in (1, 2, 3, 5):
        assert chain.add(number, b"%d" % number)
    assert list(chain.after(1)) == [(2, b"2"), (3, b"3")]
    assert chain.read(4) is None and not chain.has(4)


def test_what_a_copy_stands_for_goes_but_for_places_that_nobody_may_take_again(tmp_path: Path) -> None:
    chain = Chain(tmp_path)
    for number in range(1, 7):
        chain.add(number, b"%d" % number)
    chain.put_copy(2, b"old")
    chain.put_copy(4, b"new")
    chain.forget(4, but=frozenset({1}))
    assert [number for number in range(1, 7) if chain.has(number)] == [1, 5, 6]
    assert chain.last_copy() == (4, tmp_path / "000000000004.copy")


def test_storage_without_links_is_refused_before_anything_is_written_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    with pytest.raises(StateError) as told:
        Chain(tmp_path).add(1, b"x")
    assert "cannot be shared" in told.value.message and "hard links" in told.value.hint
    assert list(tmp_path.iterdir()) == []

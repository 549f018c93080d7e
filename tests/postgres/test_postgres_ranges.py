"""Tables are cut into ranges of pages. Oracle: every page is in exactly one of them, and the numbers never meet."""

from __future__ import annotations

import itertools

import pytest

from headwater.sources.postgres.ranges import FEWEST_PAGES, MOST_PAGES, Plan, Relation, cut, plan, rest

PAGE_BYTES = 8192


def made(*pages: int | None, readers: int = 2) -> Plan:
    relations = [(f"t{i}", Relation("public", f"t{i}", count)) for i, count in enumerate(pages)]
    return plan(relations, readers=readers, seq=100, page_bytes=PAGE_BYTES, taken={})


@pytest.mark.parametrize("pages", [0, 1, 3, 4, 5, 8, 9])
def test_every_page_is_in_one_range_and_the_last_one_is_open(pages: int) -> None:
    ranges = cut(pages, 4)
    assert ranges[0][0] == 0 and ranges[-1][1] is None
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(ranges))
    assert all(begin < max(pages, 1) for begin, _ in ranges)


def test_a_small_table_is_one_range() -> None:
    assert len(made(FEWEST_PAGES).ranges) == 1


def test_ranges_are_neither_small_nor_without_bound() -> None:
    for pages in (10_000, 1_000_000, 100_000_000):
        found = made(pages).ranges
        assert all(FEWEST_PAGES <= part.pages <= MOST_PAGES for part in found[:-1])
        assert sum(part.pages for part in found) == pages


def test_rows_of_ranges_never_share_a_number() -> None:
    found = made(5_000, 0, 20_000)
    for part, following in itertools.pairwise(found.ranges):
        assert following.seq - part.seq >= part.pages * (PAGE_BYTES // 28)
    assert found.ranges[0].seq == 100 and found.seq > found.ranges[-1].seq


def test_what_has_no_pages_is_read_as_a_whole() -> None:
    found = made(None, 10)
    assert [(part.begin, part.end) for part in found.ranges] == [(None, None), (0, None)]
    assert found.ranges[1].seq - found.ranges[0].seq >= 2**40


@pytest.mark.parametrize("taken", [[], [(0, 3)], [(4, 6), (0, 1)], [(0, 4), (4, 9)], [(8, 12)], [(0, 12)]])
def test_what_is_left_and_what_is_taken_are_all_pages(taken: list[tuple[int, int]]) -> None:
    left = rest(10, taken, 3)
    assert left[-1][1] is None, "what came behind the last page is read too"
    covered = [page for begin, end in left for page in range(begin, 20 if end is None else end)]
    covered += [page for begin, end in taken for page in range(begin, end)]
    assert sorted(covered) == list(range(20))


def test_what_is_taken_is_not_planned_again() -> None:
    relations = [("t", Relation("public", "t", 5_000)), ("u", Relation("public", "u", 10))]
    taken = {"t": {("public", "t"): [(0, 4_000)]}}
    found = plan(relations, readers=2, seq=0, page_bytes=PAGE_BYTES, taken=taken)
    assert [(part.table, part.begin, part.end) for part in found.ranges] == [
        ("t", 4_000, None),
        ("u", 0, None),
    ]

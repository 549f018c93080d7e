"""Options of the care for a server, and what is said of it.

Oracle: the texts, by hand.
"""

from __future__ import annotations

import pytest

from headwater.errors import OptionError
from headwater.options import Size, size_text
from headwater.sources.postgres.agreed import Care, care_of
from headwater.sources.postgres.retained import Kept, Voice
from tests.postgres.test_postgres_options import table


def test_only_news_are_said() -> None:
    voice = Voice(Care(most=100 << 20))

    def said(megabytes: int, status: str = "reserved") -> str | None:
        return voice.of(Kept("s", status, megabytes << 20, 0))

    assert said(50) is None and said(99, "extended") is None
    assert said(101) == (
        "postgres keeps 101.0 MB of its log for replication slot 's', more than 'wal.retained.max' (100.0 MB)"
    )
    assert said(150) is None
    assert "202.0 MB" in str(said(202))
    assert "max_slot_wal_keep_size" in str(said(203, "unreserved"))
    assert "well again" in str(said(20)) and said(20) is None
    assert "has removed log" in str(said(0, "lost")) and said(0, "lost") is None


def test_tables_of_one_database_agree_on_care() -> None:
    whole = {"heartbeat__interval__ms": "5 s", "wal__retained__max": "1 gb", "wal__retained__action": "warn"}
    plain = table()
    assert care_of([plain]) == Care()
    assert care_of([plain, table(**whole)]) == Care(5.0, 1 << 30)
    for name, other in [
        ("heartbeat__interval__ms", "6s"),
        ("wal__retained__max", "2gb"),
        ("wal__retained__action", "drop-slot"),
    ]:
        with pytest.raises(OptionError, match=f"different values of '{name.replace('__', '.')}'"):
            care_of([table(**whole), table(**(whole | {name: other}))])
    with pytest.raises(OptionError, match=r"needs 'wal\.retained\.max'"):
        care_of([table(wal__retained__action="drop-slot")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wal__retained__max": "much"}, "option 'wal.retained.max' does not take the value 'much'"),
        ({"wal__retained__action": "drop"}, "option 'wal.retained.action' does not take the value 'drop'"),
        ({"heartbeat__interval__ms": "often"}, "option 'heartbeat.interval.ms' does not take"),
        ({"debezium__heartbeat__interval__ms": "x"}, "option 'debezium.heartbeat.interval.ms' does not take"),
        (
            {"heartbeat__interval__ms": "1 s", "debezium__heartbeat__interval__ms": "5"},
            "contradict each other",
        ),
    ],
)
def test_wrong_values_are_named(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        table(**options)


def test_sizes_are_read_and_shown_in_units_of_1024() -> None:
    assert [Size.of(text) for text in ("7", "2 kb", "3MB", "10gb", "1 t")] == [
        7,
        2048,
        3 << 20,
        10 << 30,
        1 << 40,
    ]
    assert [size_text(size) for size in (7, 1536, 10 << 30)] == ["7 bytes", "1.5 KB", "10.0 GB"]

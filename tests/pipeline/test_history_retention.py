"""Histories of which only the last part is kept, by time and by number.

Oracle: the events that were written, with times of their own, cut by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from headwater.runtime.pipeline import Pipeline
from tests.pipeline.world import pipeline, rows
from tests.stage.shared import SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm]

HOUR = 3_600_000
BEGIN = 1_700_000_000_000
WEEK = 7 * 24


def created(hour: int) -> bytes:
    """A row that was created in an hour, as Debezium tells it."""
    where = {"connector": "postgresql", "sequence": f'["{hour}","{hour + 1}"]', "txId": hour}
    told = {"op": "c", "before": None, "after": {"id": hour, "day": hour // 24}}
    return json.dumps(told | {"source": where | {"ts_ms": BEGIN + hour * HOUR}}).encode()


def script(kafka: SharedKafka, topic: str, folder: Path) -> str:
    """Three histories of one table, questions about each, and one in a text that grows."""
    return (
        "CREATE TABLE visits (id INT, day INT) WITH ("
        f"'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.address}',"
        " 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');\n"
        "CREATE VIEW ever AS SELECT c.after.id AS id FROM CHANGES(visits) AS c;\n"
        "CREATE VIEW week AS SELECT c.after.id AS id FROM CHANGES(visits, RETAIN(INTERVAL '7' DAY)) AS c;\n"
        "CREATE VIEW days AS SELECT c.after.day AS day, COUNT(*) AS n, MIN(c.after.id) AS first"
        " FROM CHANGES(visits, RETAIN(INTERVAL '7' DAY)) AS c GROUP BY c.after.day;\n"
        "CREATE VIEW last AS SELECT c.after.id AS id FROM CHANGES(visits, RETAIN(100)) AS c;\n"
        "CREATE VIEW either AS SELECT c.after.id AS id"
        " FROM CHANGES(visits, RETAIN(100, INTERVAL '48' HOUR)) AS c;\n"
        f"CREATE TABLE told (id INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/told.csv',"
        " 'format' = 'csv');\n"
        "INSERT INTO told SELECT id FROM week;\n"
        f"CREATE TABLE signs (op STRING) WITH ('connector' = 'filesystem', 'path' = '{folder}/signs.csv',"
        " 'format' = 'csv');\n"
        "INSERT INTO signs SELECT op FROM CHANGES(visits, RETAIN(100));\n"
        "CREATE TABLE held (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem',"
        f" 'path' = '{folder}/held.csv', 'format' = 'csv', 'sink.mode' = 'snapshot');\n"
        "INSERT INTO held SELECT id FROM last;\n"
    )


def ids(running: Pipeline, relation: str) -> list[int]:
    """The rows of a view of one column, in order."""
    return sorted(row[0] for row in rows(running, relation).elements())


def lines(file: Path) -> list[str]:
    """The rows of a text, without its head."""
    return [line for line in file.read_text().splitlines() if line not in ("id", "op")]


def check(running: Pipeline, hours: int) -> None:
    """What is there after so many hours: all of what was asked for, and at most a sixty-fourth more."""
    assert ids(running, "ever") == list(range(hours))
    for relation, wanted in (("week", WEEK), ("last", 100), ("either", 48)):
        found = ids(running, relation)
        assert found == list(range(hours - len(found), hours))
        assert min(hours, wanted) <= len(found) <= wanted + wanted // 64 + 2, relation
    kept = Counter(hour // 24 for hour in ids(running, "week"))
    assert {day: n for day, n, _ in rows(running, "days")} == kept


def run(kafka: SharedKafka, topic: str, running: Pipeline, *, parts: Iterable[range]) -> int:
    """Let hours pass, some at a time; how many have passed in all."""
    part = range(0)
    for part in parts:
        kafka.write(topic, [created(hour) for hour in part])
        running.run_once()
    check(running, part.stop)
    return part.stop


def test_what_is_too_old_or_too_many_goes(kafka: SharedKafka, folder: Path) -> None:
    topic = kafka.topic("visits")
    text = script(kafka, topic, folder)
    with pipeline(text, folder) as running:
        run(kafka, topic, running, parts=[range(0, 60), range(60, 120), range(120, 180), range(180, 181)])
    with pipeline(text, folder) as again:
        # So many hours at once that most are too old when they come: they go with the batch after them.
        done = run(kafka, topic, again, parts=[range(181, 700), range(700, 702)])
        last = ids(again, "last")
    told, signs, held = (lines(folder / f"{name}.csv") for name in ("told", "signs", "held"))
    assert told == [str(hour) for hour in range(done)], "what was appended stays, and nothing was left out"
    assert signs == ["c"] * done, "an equal change that goes does not cancel one that comes"
    assert sorted(map(int, held)) == last, "a file that holds the result follows it"

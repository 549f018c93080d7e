"""What happened to each row: CHANGES(t) and UNPIVOT_CHANGES over a real Postgres.

Oracle: the statements that were run, row by row and by hand; commit times as the server tells them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SqlError
from tests.pipeline.world import pipeline, rows, sink, source
from tests.postgres.world import Database
from tests.stage.shared import SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm]

SETUP = """
CREATE SCHEMA bank;
CREATE TABLE bank.holding (
    holding_id int,
    user_id int,
    holding_stock varchar(8),
    holding_quantity int,
    datetime_created timestamp,
    datatime_updated timestamp
);
ALTER TABLE bank.holding REPLICA IDENTITY FULL;
INSERT INTO bank.holding VALUES (1000, 1, 'VFIAX', 10, now(), now());
CREATE TABLE holding_pivot (holding_id int, user_id int, change_field text, old_value text, new_value text,
    datetime_created timestamptz, datetime_updated timestamptz, datetime_deleted timestamptz,
    datetime_inserted timestamptz, crud_type text);
"""
STATEMENTS = [
    "insert into bank.holding values (1001, 2, 'SP500', 1, now(), now())",
    "insert into bank.holding values (1002, 3, 'SP500', 1, now(), now())",
    "update bank.holding set holding_quantity = 100 where holding_id = 1000",
    "delete from bank.holding where user_id = 3",
    "delete from bank.holding where user_id = 2",
    "insert into bank.holding values (1003, 3, 'VTSAX', 100, now(), now())",
    "update bank.holding set holding_quantity = 10 where holding_id=1003",
    "update bank.holding set holding_stock = 'VBTLX', holding_quantity = NULL where holding_id = 1003",
    "update bank.holding set datatime_updated = now()",
]
PIVOT = [
    # holding_id, user_id, change_field, old_value, new_value, number of the statement, crud_type
    (1001, 2, "holding_stock", None, "SP500", 0, "c"),
    (1001, 2, "holding_quantity", None, "1", 0, "c"),
    (1002, 3, "holding_stock", None, "SP500", 1, "c"),
    (1002, 3, "holding_quantity", None, "1", 1, "c"),
    (1000, 1, "holding_quantity", "10", "100", 2, "u"),
    (1002, 3, "holding_stock", "SP500", "", 3, "d"),
    (1002, 3, "holding_quantity", "1", "", 3, "d"),
    (1001, 2, "holding_stock", "SP500", "", 4, "d"),
    (1001, 2, "holding_quantity", "1", "", 4, "d"),
    (1003, 3, "holding_stock", None, "VTSAX", 5, "c"),
    (1003, 3, "holding_quantity", None, "100", 5, "c"),
    (1003, 3, "holding_quantity", "100", "10", 6, "u"),
    (1003, 3, "holding_stock", "VTSAX", "VBTLX", 7, "u"),
    (1003, 3, "holding_quantity", "10", None, 7, "u"),
]
COLUMNS = (
    "(holding_id INT, user_id INT, holding_stock STRING, holding_quantity INT, datatime_updated TIMESTAMP(6))"
)
UNPIVOT = "UNPIVOT_CHANGES(holding, KEY(holding_id, user_id), FIELDS(holding_stock, holding_quantity))"
TEXTS = "(id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"


def script(database: Database) -> str:
    """The table, its pivot as a view, and the pivot in a table of the database."""
    target = (
        "(holding_id INT, user_id INT, change_field STRING, old_value STRING, new_value STRING,"
        " datetime_created TIMESTAMP_LTZ(6), datetime_updated TIMESTAMP_LTZ(6), datetime_deleted TIMESTAMP_LTZ(6),"
        " datetime_inserted TIMESTAMP_LTZ(6), crud_type STRING)"
    )
    return (
        source(database, "holding", COLUMNS, schema_name="bank")
        + sink(database, "holding_pivot", target)
        + f"CREATE VIEW pivot AS SELECT * FROM {UNPIVOT};\nINSERT INTO holding_pivot SELECT * FROM pivot;\n"
    )


def test_each_changed_field_of_each_change_is_a_row(database: Database, folder: Path) -> None:
    database.run(SETUP)
    commits = []
    with pipeline(script(database), folder) as running:
        running.run_once()
        assert rows(running, "pivot") == Counter(), "first rows are no changes"
        for number, statement in enumerate(STATEMENTS):
            database.run(statement)
            commits.append(database.run("SELECT clock_timestamp()")[0][0])
            if number % 4 == 3:
                running.run_once()
    with pipeline(script(database), folder) as again:
        again.run_once()
        found = list(rows(again, "pivot").elements())
    shown = Counter((*row[:5], row[9]) for row in found)
    assert shown == Counter((*row[:5], row[6]) for row in PIVOT)
    numbers = {(*row[:5], row[6]): row[5] for row in PIVOT}
    for row in found:
        created, updated, deleted, inserted = row[5:9]
        number, op = numbers[(*row[:5], row[9])], row[9]
        committed = created if op == "c" else updated
        assert (created is None, updated is None, deleted is None) == (op != "c", op == "c", op != "d")
        assert deleted in (None, updated)
        assert committed <= commits[number] and (number == 0 or committed >= commits[number - 1])
        assert inserted >= committed
    stored = Counter(database.run("SELECT * FROM holding_pivot"))
    assert stored == Counter(found)


def test_the_three_questions_have_their_answers(database: Database, folder: Path) -> None:
    database.run(SETUP)
    with pipeline(script(database), folder) as running:
        running.run_once()
        for statement in STATEMENTS:
            database.run(statement)
        running.run_once()
    changed = (
        "select count(*) from holding_pivot where change_field = '{}' and old_value <> new_value"
        " and old_value is not null and user_id = '{}'"
    )
    # User 3 sold SP500 and changed VTSAX for VBTLX; user 1 never changed stocks.
    assert database.run(changed.format("holding_stock", 3)) == [(2,)]
    assert database.run(changed.format("holding_stock", 1)) == [(0,)]
    assert database.run(changed.format("holding_quantity", 1)) == [(1,)]
    most = (
        "select old_value from holding_pivot where datetime_updated between 'yesterday' and 'tomorrow'"
        " and old_value <> new_value and old_value is not null{} group by old_value order by count(*) desc limit 1"
    )
    # As it is written, quantities count too: '1' went twice, as 'SP500' did.
    assert database.run(most.format(""))[0][0] in ("1", "SP500")
    assert database.run(most.format(" and change_field = 'holding_stock'")) == [("SP500",)]


def event(number: int, op: str, *, before: Any = None, after: Any = None) -> bytes:
    """A change event as Debezium writes it, without its schema."""
    where = {"connector": "postgresql", "sequence": f'["{number - 1}","{number}"]', "txId": 700 + number}
    told = {
        "before": before,
        "after": after,
        "op": op,
        "source": where | {"ts_ms": 1_700_000_000_000 + number},
    }
    return json.dumps(told).encode()


def test_events_that_come_twice_are_told_once(kafka: SharedKafka, folder: Path) -> None:
    topic = kafka.topic("holding")
    old = {"holding_id": 1, "user_id": 7, "holding_stock": "A", "holding_quantity": 5}
    new = old | {"holding_quantity": 6}
    said = [event(1, "c", after=old), event(2, "u", before=old, after=new), event(3, "d", before=new)]
    kafka.write(topic, [message for message in said for _ in range(2)])
    kafka.write(topic, said)
    text = (
        "CREATE TABLE holding (holding_id INT, user_id INT, holding_stock STRING, holding_quantity INT) WITH ("
        f"'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.address}',"
        " 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');\n"
        f"CREATE VIEW pivot AS SELECT * FROM {UNPIVOT};\n"
        "CREATE VIEW names AS SELECT op, transaction_id, committed_at FROM CHANGES(holding);\n"
    )
    with pipeline(text, folder) as running:
        running.run_once()
        found, names = rows(running, "pivot"), rows(running, "names")
    assert Counter({(*row[2:5], row[9]): count for row, count in found.items()}) == Counter(
        [
            ("holding_stock", None, "A", "c"),
            ("holding_quantity", None, "5", "c"),
            ("holding_quantity", "5", "6", "u"),
            ("holding_stock", "A", "", "d"),
            ("holding_quantity", "6", "", "d"),
        ]
    )
    assert {(op, name) for op, name, _ in names} == {("c", "701"), ("u", "702"), ("d", "703")}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("CHANGES(nothing)", 'table "nothing" does not exist'),
        ("CHANGES(1)", "CHANGES takes the name of a table or view"),
        ("CHANGES(keyed, 1)", "CHANGES does not know '1'"),
        ("CHANGES(keyed, RETAIN())", "RETAIN does not say how long"),
        ("CHANGES(keyed, RETAIN(0))", "RETAIN does not say how long"),
        ("CHANGES(keyed, RETAIN(INTERVAL '1' MONTH))", "RETAIN does not say how long"),
        ("VERSIONS(keyed, KEY(id), RETAIN(5))", "VERSIONS does not know 'RETAIN(5)'"),
        ("UNPIVOT_CHANGES(keyed)", "UNPIVOT_CHANGES needs KEY and FIELDS"),
        ("UNPIVOT_CHANGES(keyed, KEY(id), FIELDS(w))", 'column "w" does not exist'),
        ("UNPIVOT_CHANGES(keyed, KEY(id), FIELD(v))", "does not know 'FIELD(v)'"),
        ("UNPIVOT_CHANGES(keyed, KEY(id), FIELDS(m))", 'field "m" is a MAP'),
        ("UNPIVOT_CHANGES(keyed, KEY(id), KEY(v), FIELDS(v))", "UNPIVOT_CHANGES was given KEY twice"),
        ("UNPIVOT_CHANGES(keyed, KEY(id + 1), FIELDS(v))", "KEY takes names of columns"),
        ("UNPIVOT_CHANGES(keyed, KEY(id), FIELDS(v, v))", "FIELDS takes names of columns, each once"),
        ("UNPIVOT_CHANGES(keyed, KEY(id), FIELDS(v), SNAPSHOT(1))", "SNAPSHOT takes nothing"),
        ("VERSIONS(keyed)", "VERSIONS needs KEY"),
        ("WITH_DELETED(keyed, FIELDS(v))", "WITH_DELETED does not know 'FIELDS(v)'"),
    ],
)
def test_a_wrong_call_is_named(folder: Path, call: str, message: str) -> None:
    text = (
        f"CREATE TABLE keyed (m MAP<STRING, INT>, {TEXTS[1:]} WITH ('connector' = 'values');\n"
        f"CREATE VIEW x AS SELECT * FROM {call};"
    )
    with pytest.raises(SqlError) as raised, pipeline(text, folder):
        pass
    assert message in raised.value.message
    assert raised.value.place is not None and raised.value.place.line == 2

"""Rows in memory as a frame. Oracle: what PySpark's own way makes of the same rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from headwater.services.java import java_home
from headwater.spark.local_rows import BATCH_ROWS, local_frame
from headwater.spark.pace import AS_IT_STANDS, FEW_ROWS, GENERATED, Pace
from headwater.spark.session import open_session

MOMENT = datetime(1969, 12, 31, 23, 59, 59, 999999)

EVERY_TYPE = pa.table(
    {
        "b": [True, None],
        "tiny": pa.array([-128, None], pa.int8()),
        "i": pa.array([1, None], pa.int32()),
        "l": pa.array([2**62, None], pa.int64()),
        "f": pa.array([1.5, None], pa.float32()),
        "d": [float("nan"), None],
        "n": pa.array([Decimal("-1.0000000001"), None], pa.decimal128(38, 10)),
        "s": ["naïve ☃", None],
        "x": [b"\x00\xff", None],
        "day": [date(1, 1, 1), None],
        "local": pa.array([MOMENT, None], pa.timestamp("us")),
        "instant": pa.array([MOMENT.replace(tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
        "list": [[1, None], None],
        "row": [{"a": 1, "b": [None, "x"]}, None],
        "pairs": pa.array([[("k", None)], None], pa.map_(pa.string(), pa.int64())),
    }
)


@pytest.mark.jvm
@pytest.mark.parametrize("rows", [EVERY_TYPE, EVERY_TYPE.slice(0, 0)], ids=["rows", "none"])
def test_every_type_comes_back_as_by_spark_s_own_way(rows: pa.Table) -> None:
    spark = open_session(java_home(), name="rows")
    usual, ours = spark.createDataFrame(rows.combine_chunks()), local_frame(spark, rows)
    assert ours.schema == usual.schema
    assert str(ours.toArrow().to_pylist()) == str(usual.toArrow().to_pylist())
    assert ours.rdd.getNumPartitions() == 1


@pytest.mark.jvm
def test_rows_of_several_chunks_and_batches_all_arrive() -> None:
    spark = open_session(java_home(), name="rows")
    none, many = pa.table({"n": pa.array([], pa.int64())}), pa.table({"n": range(2 * BATCH_ROWS + 7)})
    rows = pa.concat_tables([none, many, none, many])
    assert local_frame(spark, rows).toArrow().column("n").to_pylist() == rows.column("n").to_pylist()


@pytest.mark.jvm
def test_a_map_that_may_hold_null_is_not_taken_for_one_that_may_not() -> None:
    spark = open_session(java_home(), name="rows")
    never = pa.field("value", pa.int64(), nullable=False)
    strict = pa.table({"m": pa.array([[("k", 1)]], pa.map_(pa.string(), never))})
    free = pa.table({"m": pa.array([[("k", None)]], pa.map_(pa.string(), pa.int64()))})
    local_frame(spark, strict)
    assert local_frame(spark, free).toArrow().column("m").to_pylist() == [[("k", None)]]


class Session:
    """A session that keeps what it is told, and counts."""

    def __init__(self) -> None:
        self.conf, self.told, self.times = self, dict[str, str](), 0

    def set(self, name: str, value: str) -> None:
        self.told[name] = value
        self.times += 1


def test_a_session_is_told_what_suits_and_nothing_twice() -> None:
    session = Session()
    pace = Pace(session)  # type: ignore[arg-type]  # all that is asked of it
    pace.suit(FEW_ROWS)
    assert session.told.items() >= AS_IT_STANDS.items()
    times = session.times
    pace.suit(1)
    assert session.times == times
    pace.suit(None)
    assert session.told.items() >= GENERATED.items()
    pace.generate_no_code()
    pace.suit(None)
    assert session.told.items() >= AS_IT_STANDS.items()

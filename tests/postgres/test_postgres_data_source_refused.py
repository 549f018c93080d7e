"""What the data source of Spark refuses, and how it says so.

Oracle: the errors, written down by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import SparkSession

from tests.postgres.followed import Followed, options, reader
from tests.postgres.world import Database

pytestmark = [pytest.mark.services, pytest.mark.jvm]


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({"hostnam": "x"}, "connector 'postgres-cdc' has no option 'hostnam'", "Did you mean 'hostname'?"),
        ({"connector": "kafka"}, "connector 'kafka' has no log", "postgres-cdc"),
        ({"table-name": "peple"}, "no table 'peple'", "Did you mean 'people'?"),
        ({"state": "s3://bucket/state"}, "takes the path of a folder, not a URL", "the same path"),
        ({"password": "${env:NO_SUCH_THING}"}, "NO_SUCH_THING, which is not set", "export"),
    ],
)
def test_a_wrong_option_is_our_error(
    spark: SparkSession, people: Database, given: dict[str, str], said: str, hint: str
) -> None:
    with pytest.raises(AnalysisException) as found:
        spark.readStream.format("headwater").options(**options(people, "people") | given).load()
    assert said in str(found.value) and hint in str(found.value).split("hint: ")[1]


def test_a_stream_without_state_is_refused(spark: SparkSession, people: Database, tmp_path: Path) -> None:
    query = Followed(reader(spark, people, "people"), tmp_path / "checkpoint")
    with pytest.raises(PySparkException, match="a stream needs option 'state'"):
        query.run_available()


def test_a_checkpoint_without_its_log_is_refused(
    followed: Followed, spark: SparkSession, people: Database, tmp_path: Path
) -> None:
    followed.run_available()
    other = Followed(reader(spark, people, "people", state=str(tmp_path / "new")), tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException, match="the checkpoint of the query belongs to another log"):
        other.run_available()


def test_a_log_that_was_read_by_another_query_is_refused(
    followed: Followed, spark: SparkSession, people: Database, tmp_path: Path
) -> None:
    followed.run_available()
    people.run("INSERT INTO people VALUES (3, 'cid')")
    followed.run_available()
    other = Followed(reader(spark, people, "people", state=str(tmp_path / "state")), tmp_path / "other")
    with pytest.raises(StreamingQueryException, match="the log no longer has its beginning"):
        other.run_available()
    people.run("CREATE TABLE pets (id int PRIMARY KEY)")
    pets = Followed(reader(spark, people, "pets", state=str(tmp_path / "state")), tmp_path / "pets")
    with pytest.raises(StreamingQueryException, match="is of another table"):
        pets.run_available()


def test_a_stream_ends_before_a_column_that_is_lost(followed: Followed, people: Database) -> None:
    followed.start()
    followed.wait(2)
    people.run("INSERT INTO people VALUES (3, 'cid')")
    people.run("ALTER TABLE people DROP COLUMN name; INSERT INTO people VALUES (4)")
    with pytest.raises(StreamingQueryException, match="column 'name' of table 'people' is gone"):
        followed.join()
    assert [row.after.id for row in followed.rows] == [1, 2, 3]
    with pytest.raises(StreamingQueryException, match="column 'name' of table 'people' is gone"):
        followed.run_available()
        followed.run_available()
    assert [row.after.id for row in followed.rows] == [1, 2, 3]

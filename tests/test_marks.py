"""Marks are true: what `make quick` leaves out is all that starts Spark or a service. Oracle: starting them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.services.kafka import KafkaServer
from headwater.services.postgres import EmbeddedPostgres


def test_a_test_without_the_mark_cannot_start_spark() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"mark\.jvm"):
        SparkSession.builder.getOrCreate()


def test_a_test_without_the_mark_cannot_start_postgres(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"mark\.services"):
        EmbeddedPostgres(tmp_path)


def test_a_test_without_the_mark_cannot_start_another_service(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"mark\.services"):
        KafkaServer(tmp_path).start()

"""A backlog too large to travel through the driver is read by the executors, and gives the same answer.

Oracle: the sum of what was written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stage.shared import SharedKafka

pytestmark = [pytest.mark.services, pytest.mark.jvm]

MESSAGES = 250_000


def test_a_large_backlog_is_read_by_spark_itself(kafka: SharedKafka, tmp_path: Path) -> None:
    topic = kafka.topic(partitions=3)
    kafka.write_transaction(topic, [b'{"n": 1000000}'], commits=False)
    kafka.write(
        topic, [b'{"n": %d}' % n for n in range(MESSAGES)], **{"queue.buffering.max.messages": str(MESSAGES)}
    )
    properties = ", ".join(f"'properties.{name}' = '{text}'" for name, text in kafka.ssl.items())
    (tmp_path / "large.sql").write_text(
        f"CREATE TABLE t (n BIGINT) WITH ('connector' = 'kafka', 'topic' = '{topic}', {properties}, "
        "'scan.startup.mode' = 'earliest-offset', 'format' = 'json');\n"
        "SELECT COUNT(*) AS messages, SUM(n) AS total FROM t;"
    )
    # A process of its own: what Spark reads topics with has to be there when its JVM starts.
    words = ["sql", "large.sql", "--once", "--format", "csv"]
    done = subprocess.run(
        [sys.executable, "-m", "headwater", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"{MESSAGES},{MESSAGES * (MESSAGES - 1) // 2}" in done.stdout

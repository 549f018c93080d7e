"""A query by plain Spark over cached tables, for `recompute.py`: writes its rows and its seconds into a file."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from headwater.services.java import java_home

PARTITIONS = "8"


def main() -> None:
    """Cache, warm up, measure."""
    asked = json.loads(sys.argv[1])
    spark = (
        SparkSession.builder.master("local[*]")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    for name, path in asked["files"].items():
        spark.read.parquet(path).createOrReplaceTempView(name)
        spark.sql(f"CACHE TABLE {name}")
    rows = [list(row) for row in spark.sql(asked["query"]).collect()]
    seconds = []
    for _ in range(asked["times"]):
        begin = time.perf_counter()
        spark.sql(asked["query"]).collect()
        seconds.append(time.perf_counter() - begin)
    Path(sys.argv[2]).write_text(json.dumps({"rows": rows, "seconds": seconds}))
    spark.stop()


if __name__ == "__main__":
    # Spark's launcher knows nothing of the Java that came as a wheel.
    os.environ["JAVA_HOME"] = str(java_home())
    main()

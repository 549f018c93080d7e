"""Functions of Python in Spark SQL, called with columns of Arrow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

from headwater.schema import sql_type


def add_function(spark: SparkSession, name: str, function: Callable[..., Any], kind: str) -> None:
    """Let SQL of a session call a function that takes Arrow arrays and gives one."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is not None and module.__name__ not in ("__main__", __name__):
        # A worker may not find the module of a user's function where this process found it.
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    spark.udf.register(name, arrow_udf(function, sql_type(kind)))

"""Spark's own pages: jobs, stages, statements. They are begun when somebody wants to see them, and not before."""

from __future__ import annotations

import threading
from typing import Any

from pyspark.sql import SparkSession

_LOCK = threading.Lock()
_shown: dict[str, str] = {}
"""The address of the pages by the id of the Spark they are of."""


def own_pages(session: SparkSession) -> str:
    """Where Spark shows itself: at a free port that is open to this machine only. Nothing can be ended there."""
    context = session.sparkContext
    with _LOCK:
        if context.applicationId not in _shown:
            _shown[context.applicationId] = _begun(session)
        return _shown[context.applicationId]


def _begun(session: SparkSession) -> str:
    # Spark makes its pages when it starts, or never; these are the same calls, made later.
    jvm: Any = session._jvm
    spark: Any = session.sparkContext._jsc.sc()
    conf = spark.conf().clone().set("spark.ui.port", "0").set("spark.ui.killEnabled", "false")
    some, manager = jvm.scala.Option.apply(spark), spark.env().securityManager()
    shown = jvm.org.apache.spark.ui.SparkUI.create(
        some, spark.statusStore(), conf, manager, spark.appName(), "", spark.startTime(), spark.version()
    )
    statements = session._jsparkSession.sharedState().statusStore()
    jvm.org.apache.spark.sql.execution.ui.SQLTab(statements, shown)
    shown.bind()
    shown.attachAllHandlers()
    return str(shown.webUrl())

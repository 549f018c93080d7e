"""A cluster that runs the executors: where it is, and what its user says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Cluster:
    """The master of a cluster, as Spark names it, and settings of Spark's own."""

    master: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """True if there is none: executors are threads of this machine."""
        return is_local_master(self.master)


def is_local_master(master: str) -> bool:
    """True of `local`, `local[4]`; not of `local-cluster[...]`, which starts processes."""
    return master == "local" or master.startswith("local[")


def is_spread(spark: SparkSession | Cluster | None) -> bool:
    """True if executors may be on other machines than the driver."""
    if isinstance(spark, Cluster):
        return not spark.is_local
    return spark is not None and not is_local_master(spark.sparkContext.master or "")

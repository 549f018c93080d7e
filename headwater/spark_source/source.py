"""`spark.readStream.format("headwater")` and `spark.read.format("headwater")`.

headwater.register(spark)
changes = spark.readStream.format("headwater").options(**{"connector": "postgres-cdc", ...}).load()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from headwater.errors import OptionError
from headwater.spark_source.columns import ddl, table_columns
from headwater.spark_source.declared import explained, read_declared
from headwater.spark_source.feed import logged_columns
from headwater.spark_source.now import RowsNow
from headwater.spark_source.stream import LogStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class HeadwaterSource(DataSource):
    """One table of a database, as its log tells of it."""

    @explained()
    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        # References to the environment are resolved here, on the driver.
        self._declared = read_declared(options)

    @classmethod
    def name(cls) -> str:
        """The word after `format`."""
        return "headwater"

    @explained()
    def schema(self) -> str:
        """The columns, with those of the table in `before` and `after`; asks the server if there is no log yet."""
        declared = self._declared
        return ddl(logged_columns(declared) or declared.type.describe(declared.options))

    @explained()
    def reader(self, schema: StructType) -> RowsNow:
        """All rows as of one moment."""
        return RowsNow(self._declared.once(), table_columns(schema), tuple(schema.fieldNames()))

    @explained()
    def streamReader(self, schema: StructType) -> LogStream:
        """First rows, then every commit."""
        if self._declared.state is None:
            raise OptionError(
                "a stream needs option 'state'",
                detail="It is the folder in which the log is kept until Spark has committed what it read.",
                hint="Give a folder that the driver and all executors reach, one for each query.",
            )
        return LogStream(self._declared, table_columns(schema), tuple(schema.fieldNames()))


def register(spark: SparkSession) -> None:
    """Make the format "headwater" known to a Spark session."""
    spark.dataSource.register(HeadwaterSource)

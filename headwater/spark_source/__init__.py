"""A database's log as a data source of Spark, for jobs that are not ours.

Options of `spark.read` and `spark.readStream` enter; Arrow batches of changes leave, read by Spark's own workers.
Users call `source.register`, Spark calls the rest; nothing of ours does.
"""

"""Topics of a Kafka cluster, read so that a batch can be repeated exactly.

Messages enter; spans of them by table leave, as bytes that the run-time has decoded by Spark. The tables of one
cluster share one position; where a Debezium server tells its transactions, a batch ends where one of them does.
"""

"""Topics of a Kafka cluster, written so that each batch is one transaction over all of them.

ChangeSets and a batch id enter; messages and the batch id leave, together or not at all.
Only the registry of sinks calls, through `sink.KAFKA` and `sink.UPSERT_KAFKA`.
"""

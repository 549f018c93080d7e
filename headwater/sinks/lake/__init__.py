"""Connectors 'delta' and 'iceberg': tables of a lake, one commit a batch.

Changes enter; one row a key leaves, merged into the table together with the id of the batch.
The registry calls; what Spark does for it stands behind the contract and is handed in by the runtime.
"""

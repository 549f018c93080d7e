"""Where Spark is: a session tuned for small steps, and the engine that runs change plans on it.

Change plans, States and ChangeSets enter; ChangeSets leave, as Arrow when small and as Parquet files when not.
The runtime calls; no other room imports pyspark.
"""

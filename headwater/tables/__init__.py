"""What is true now: the State of each table and view as runs of weighted rows in Parquet.

Events and ChangeSets enter; slices and lists of files leave.
The runtime and the Spark room call; nothing here knows of plans.
"""

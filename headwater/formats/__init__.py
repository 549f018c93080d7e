"""Bytes of a broker's messages become typed events, and rows become bytes again.

Format options and a table's schema enter; trees of Spark SQL leave, which others run over the messages or the rows.
Sources, sinks and runtime may call; nothing here touches a broker or Spark.
"""

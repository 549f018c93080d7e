"""Clients of Kafka: what users write as `properties.*` becomes consumers, producers and administrators.

Properties under Java's or librdkafka's names enter; clients leave, and problems in words a person can act on.
Sources, sinks and the command line call; nothing here knows of tables.
"""

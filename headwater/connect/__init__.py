"""Connectors of a Kafka Connect cluster: their files, their options, their state.

A file of JSON and the address of a cluster enter; options that today's Debezium understands, requests to the
cluster and what it answers leave. The command line and the demos call; nothing here prints.
"""

"""Databases that change, for people to watch: tables, data made up from a seed, and a generator.

The address of a Postgres enters; real transactions on it, and the SQL of a pipeline, leave.
The command line and tests may call; nothing here reads changes or shows them.
"""

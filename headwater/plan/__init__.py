"""Relational algebra of a query: frozen nodes that hold sqlglot expressions.

Bound queries enter from `sql`; trees of nodes leave, for `incremental` to differentiate and `explain` to print.
Pure: nothing here runs a query or knows of Spark.
"""

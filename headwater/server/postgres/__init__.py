"""Views and tables for everyone who speaks Postgres' protocol: psql, drivers, dashboards.

Bytes of a client enter; rows at a cut leave. A small Postgres of our own, which knows the shape of every relation and
has no row of any, stands behind each client: it reads the statement, names types and errors, and answers whatever is
asked of its catalog. Only what asks for rows of a relation is answered by the server's reader.
"""

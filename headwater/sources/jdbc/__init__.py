"""Connector 'jdbc' as a source: tables of a Postgres or MySQL, read whole, once or again and again.

Options of a WITH clause enter; the first read leaves as inserts, each later one as its difference to the one before.
The registry names it, and the catalog that knows all tables of a server.
"""

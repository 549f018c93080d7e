"""Tables of a Postgres as the jdbc sink writes them.

Change sets and a batch id enter; statements of one transaction leave.
Only `jdbc.sink` calls, through `server.PostgresServer`.
"""

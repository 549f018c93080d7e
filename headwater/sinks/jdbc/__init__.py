"""Tables of a Postgres, MySQL or MariaDB, written so that each batch is one transaction over all of them.

ChangeSets and a batch id enter; upserts, deletes and the batch id leave, together or not at all.
Only the registry of sinks calls, through `sink.JDBC`; `server.Server` is what each kind of database must do.
"""

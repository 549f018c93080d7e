"""Changes of a Postgres database, read from its own log.

Options of `'connector' = 'postgres-cdc'` enter; deliveries of whole transactions leave, first rows as inserts.
The registry takes `source.POSTGRES`; everything else here serves it or the capture process.
"""

"""MySQL and MariaDB, from their own binary log.

Options of `'connector' = 'mysql-cdc'` enter; typed events of whole transactions leave through our log.
The registry takes `source.MYSQL`; everything else here serves it or the capture process.
"""

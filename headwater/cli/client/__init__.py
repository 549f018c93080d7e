"""The SQL client: what is typed enters, and each statement's outcome is shown; live queries move until `q`.

A `Session` carries the statements out, here or at a server; this room only reads keys and draws. `headwater sql` calls.
"""

"""Storage that several machines share: who may work on it, and records of what is done there.

Folders and statements enter; turns, records and copies of SQLite files leave.
The log, the sources and the runtime call; nothing here knows what is kept.
"""

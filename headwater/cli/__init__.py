"""The command line: what a person types, and what the terminal shows.

Arguments, files and signals enter; calls of the runtime, tables, lines and exit codes leave.
Nobody inside the package may call this room, only the `headwater` program and its tests.
"""

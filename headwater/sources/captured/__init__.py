"""Databases whose log is read by a process of its own into ours.

The line of a capture's configuration enters; deliveries of the log leave, and what the capture has to say.
The sources of databases build on it; nothing here knows of one of them.
"""

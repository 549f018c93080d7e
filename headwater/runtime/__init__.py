"""Turns the wheel: read, step, write, commit, for all sources and views of a pipeline together.

A script enters through `open_pipeline`; batches leave, to sinks and to whoever listens.
Command line, console and notebook call; the rooms below do the work.
"""

"""Flink's built-in functions, written as Spark SQL.

A call as the user wrote it enters, while a text is parsed (`syntax`, `rewrites`) and once more when its columns are
known (`typed`); a tree that Spark computes with Flink's meaning leaves.
The dialect, `queries` and `bind` call; docs/functions.md lists every function of Flink and how it fares here.
"""

"""Changes as weighted rows: the one currency between tables, views and sinks.

Events enter; ChangeSets leave. Weights cancel in `consolidate` and nowhere else.
Everyone downstream of the log may call; nothing here knows where rows come from.
"""

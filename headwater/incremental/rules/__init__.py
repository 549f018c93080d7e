"""One rule, one file: how the change of an operator follows from the changes of its inputs.

Blocks enter; statements leave. `differentiate` calls, in the order of its table.
"""

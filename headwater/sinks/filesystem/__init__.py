"""Files on this machine: one that grows, a folder with a file a batch, or one that always holds what is true.

ChangeSets and a batch id enter; whole files or whole lines leave, and beside them a note of the last batch.
Only the registry of sinks calls, through `sink.FILESYSTEM`.
"""

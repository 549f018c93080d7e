"""How a view is kept true: from a plan to stored blocks, from each block to the statements that maintain it.

Plans and the types of their columns enter; blocks, strategies and SQL trees leave.
Pure: `spark` runs the statements, `runtime` decides when; nothing here knows of either.
"""

"""Where answers go, one module a connector.

ChangeSets with a batch id enter; rows, messages or documents leave, the same ones when a batch is repeated.
The runtime calls, through the registry; nothing here knows of plans.
"""

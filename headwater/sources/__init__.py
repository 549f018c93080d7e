"""Where changes come from, one module a connector.

Options of a WITH clause enter; deliveries of whole transactions leave.
The runtime calls, through the registry; nothing here knows of plans.
"""

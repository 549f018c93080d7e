"""What sources say, kept durably in whole transactions until it is done.

Bytes from a server or events from a generator enter; typed columns of events leave, in commit order.
Sources write here, the runtime reads; nothing here knows of views.
"""

"""The console: pages in the browser that show what the server knows and tell it what to do.

Requests for pages enter; one page and its scripts, styles and fonts leave, the same for everyone: it owns no data.
Only `server.http` mounts it; all that the pages show they ask of the server's HTTP, like any other client.
"""

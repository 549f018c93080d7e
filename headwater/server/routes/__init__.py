"""What can be asked over HTTP, one file for each topic.

A request enters, checked by FastAPI; plain JSON leaves. Only `http.make_app` calls the routers.
"""

"""Requests are answered at a port, on a thread of their own."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from headwater.errors import UsageError

END_SECONDS = 3
"""How long requests may still take when the server ends; streams of changes would go on for ever."""


def configured(app: FastAPI, certificate: Path | None = None, key: Path | None = None) -> uvicorn.Config:
    """How it is answered: over HTTPS if there is a certificate."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except OSError as problem:
        raise UsageError(
            f"cannot serve HTTPS with {certificate} and {key}",
            detail=f"{problem.strerror or problem}.",
            hint="Both are PEM files, and the key is that of the certificate.",
        ) from None
    return config


@contextmanager
def answering(config: uvicorn.Config, listening: socket.socket) -> Iterator[None]:
    """Requests are answered, on a thread of their own, inside the block."""
    serving = uvicorn.Server(config)
    thread = threading.Thread(
        target=lambda: serving.run(sockets=[listening]), name="headwater http", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        serving.should_exit = True
        # A request that computes something is not waited for: its client hears no end, and asks again.
        thread.join(2 * END_SECONDS)


def bound(host: str, port: int, *, flag: str = "--port", backlog: int = 128) -> socket.socket:
    """A socket that listens; `flag` is what its port is called on the command line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except (OSError, OverflowError) as problem:
        opened.close()
        raise UsageError(
            f"cannot listen at {host}:{port}",
            detail=f"{getattr(problem, 'strerror', None) or problem}.",
            hint=_way_out(problem, flag),
        ) from None
    opened.listen(backlog)
    return opened


def _way_out(problem: Exception, flag: str) -> str:
    match problem:
        case OverflowError():
            return f"{flag} is a number from 0 to 65535; 0 is any port that is free."
        case OSError(errno=errno.EADDRINUSE):
            return f"Another server may be there: take another {flag}."
        case PermissionError():
            return f"Take a {flag} above 1023."
        case _:
            return "--host is an address of this machine."


def address_of(listening: socket.socket) -> str:
    """Where it listens: `127.0.0.1:8090`."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

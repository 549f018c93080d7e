"""A server answers over HTTP at an address, on a thread of its own."""

from __future__ import annotations

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


def config_of(app: FastAPI, certificate: Path | None = None, key: Path | None = None) -> uvicorn.Config:
    """How an application is served; with a certificate as HTTPS."""
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
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=lambda: server.run(sockets=[listening]), name="headwater http", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        # A request that computes something is not waited for: its client hears no end, and asks again.
        thread.join(2 * END_SECONDS)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except (OSError, OverflowError) as problem:
        opened.close()
        raise UsageError(
            f"cannot listen at {host}:{port}",
            detail=str(getattr(problem, "strerror", None) or problem),
            hint="Another server may be there: give --port.",
        ) from None
    opened.listen(128)
    return opened


def address_of(listening: socket.socket) -> str:
    """Where a socket listens: `127.0.0.1:8090`."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

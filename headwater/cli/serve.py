"""`headwater serve`: a server, until someone stops it."""

from __future__ import annotations

import argparse
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import uvicorn
from fastapi import FastAPI

from headwater.cli.stop import Stop
from headwater.cli.tokens import read_tokens
from headwater.errors import UsageError
from headwater.server.access import LOCAL, Access
from headwater.server.http import make_app
from headwater.server.postgres.endpoint import Door, Endpoint
from headwater.server.server import Server

POLL_SECONDS = 0.1

END_SECONDS = 3
"""How long requests may still take when the server ends; streams of changes would go on for ever."""


def serve_command(given: argparse.Namespace) -> int:
    """Serve until a signal comes, then close all pipelines."""
    access = Access(read_tokens(given.token_file), read_tokens(given.read_token_file))
    _check(given, access)
    with Stop() as stop, closing(_bound(given.host, given.port)) as listening:
        server = Server(given.state)
        try:
            server.start()
            config = _config(given, make_app(server, access))
            with _answering(config, listening), _postgres(given, server, access=access) as postgres:
                scheme = "http" if given.certificate is None else "https"
                print(f"headwater serves at {scheme}://{_address(listening)}", flush=True)
                if postgres is not None:
                    print(f"clients of Postgres read at {given.host}:{postgres.port}", flush=True)
                _wait(stop)
                # Some requests wait for what a deployment does.
                server.stop()
        finally:
            stop.closing()
            server.close()
        stop.end()
    return 0


def _wait(stop: Stop) -> None:
    """Wait for a signal, in small pieces, so that it is heard."""
    stop.gently()
    never = threading.Event()
    while stop.asked is None:
        never.wait(POLL_SECONDS)


def _check(given: argparse.Namespace, access: Access) -> None:
    """Refuse what would let others in."""
    if given.host not in LOCAL and access.is_open:
        raise UsageError(
            f"a server that others can reach at {given.host} needs a token",
            hint="Give --token-file FILE; or leave out --host, to serve this machine only.",
        )
    if access.readers and not access.writers:
        raise UsageError("with --read-token-file alone nobody could write", hint="Give --token-file too.")
    if (given.certificate is None) != (given.key is None):
        raise UsageError("--certificate and --key belong together")


def _config(given: argparse.Namespace, app: FastAPI) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
        ssl_certfile=given.certificate,
        ssl_keyfile=given.key,
    )
    try:
        config.load()
    except OSError as problem:
        raise UsageError(
            f"cannot serve HTTPS with {given.certificate} and {given.key}",
            detail=f"{problem.strerror or problem}.",
            hint="Both are PEM files, and the key is that of the certificate.",
        ) from None
    return config


@contextmanager
def _answering(config: uvicorn.Config, listening: socket.socket) -> Iterator[None]:
    """Requests are answered, on a thread of their own, inside the block."""
    answering = uvicorn.Server(config)
    thread = threading.Thread(
        target=lambda: answering.run(sockets=[listening]), name="headwater http", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        answering.should_exit = True
        # A request that computes something is not waited for: its client hears no end, and asks again.
        thread.join(2 * END_SECONDS)


@contextmanager
def _postgres(given: argparse.Namespace, server: Server, *, access: Access) -> Iterator[Endpoint | None]:
    """Clients of Postgres read views and tables inside the block, if they are to; a token is their password."""
    if given.pg_port is None:
        yield None
        return
    tls = None
    if given.certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(given.certificate, given.key)
    tokens = [token.reveal() for token in (*access.writers.values(), *access.readers.values())]
    door = Door(given.host, given.pg_port, tokens, tls)
    endpoint = Endpoint(server.reader, door, note=server.folder / "postgres")
    try:
        yield endpoint
    finally:
        endpoint.close()


def _bound(host: str, port: int) -> socket.socket:
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


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

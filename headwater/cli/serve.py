"""`headwater serve`: a server, until someone stops it."""

from __future__ import annotations

import argparse
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from headwater.cli.stop import Stop
from headwater.cli.tokens import read_tokens
from headwater.errors import UsageError
from headwater.server.access import LOCAL, Access
from headwater.server.answering import address_of, answering, bound, configured
from headwater.server.http import make_app
from headwater.server.postgres.endpoint import Door, Endpoint
from headwater.server.server import Server

POLL_SECONDS = 0.1


def serve_command(given: argparse.Namespace) -> int:
    """Serve until a signal comes, then close all pipelines."""
    access = Access(read_tokens(given.token_file), read_tokens(given.read_token_file))
    _check(given, access)
    with Stop() as stop, closing(bound(given.host, given.port)) as listening:
        server = Server(given.state, connect_url=given.connect)
        try:
            config = configured(make_app(server, access), given.certificate, given.key)
            with postgres(given, server, access=access) as endpoint, answering(config, listening):
                server.start()
                scheme = "http" if given.certificate is None else "https"
                print(f"headwater serves at {scheme}://{address_of(listening)}", flush=True)
                if endpoint is not None:
                    print(f"clients of Postgres read at {endpoint.address}", flush=True)
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


@contextmanager
def postgres(given: argparse.Namespace, server: Server, *, access: Access) -> Iterator[Endpoint | None]:
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

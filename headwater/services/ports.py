"""Ports of this machine: which are free, and who answers."""

from __future__ import annotations

import random
import socket

from headwater.errors import ServiceError

HOST = "127.0.0.1"


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def free_port_between(lowest: int, highest: int) -> int:
    """A free port of a range; taken at random, so that two who look at once seldom meet."""
    for port in random.sample(range(lowest, highest + 1), highest - lowest + 1):
        if is_free(port):
            return port
    raise ServiceError(f"no port from {lowest} to {highest} is free", hint="Stop what listens there.")


def is_free(port: int) -> bool:
    """True if a server could listen there now."""
    with socket.socket() as probe:
        # As servers do it: connections of a server that is gone do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def require_free(port: int, service: str) -> None:
    """Refuse a port that is taken, by its number."""
    if not is_free(port):
        raise port_in_use(port, service)


def port_in_use(port: int, service: str) -> ServiceError:
    """What to say of a port that is taken."""
    return ServiceError(
        f"port {port} is in use",
        detail=f"{service} wants to listen on {HOST}:{port}, and another program does already.",
        hint="Stop it, or choose another port.",
    )


def connects(port: int) -> bool:
    """True if somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0

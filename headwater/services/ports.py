"""Ports of this machine: which are free, and who answers."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from headwater.errors import ServiceError

HOST = "127.0.0.1"


LOWEST = 10_000
"""Below this are ports that other programs are known by."""

LENT = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Where the machine says which ports it lends to clients."""


def free_port() -> int:
    """A port nobody listens on, and that no client is given for its end of a connection.

    One of those could be gone by the time the server is up; and a client that knocks where a killed server was may
    be given that very port, and then holds it against the server that comes back.
    """
    try:
        highest = int(LENT.read_text().split()[0]) - 1
    except (OSError, ValueError):
        highest = 32_767
    return free_port_between(min(LOWEST, highest - 1_000), highest)


def free_port_between(lowest: int, highest: int) -> int:
    """A free port of a range; taken at random, so that two who look at once seldom meet."""
    # The system's chance: a seed that tests set would send two of them to the same port.
    for port in random.SystemRandom().sample(range(lowest, highest + 1), highest - lowest + 1):
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

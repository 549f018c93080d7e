"""Requests to the nodes of a cluster, over connections that stay open."""

from __future__ import annotations

import json
import re
import urllib.parse
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError, InsecureRequestWarning, MaxRetryError, SSLError

from headwater.errors import OptionError, Place
from headwater.sinks.search.options import Host, SearchOptions, hosts_of

JSON, LINES = "application/json", "application/x-ndjson"


@dataclass(frozen=True)
class Answer:
    """What a node said: its status and its JSON."""

    status: int
    said: Any
    node: str

    @property
    def good(self) -> bool:
        """True if what was asked for was done."""
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """Why it was not, in the node's words."""
        error = self.said.get("error") if isinstance(self.said, dict) else None
        if isinstance(error, dict):
            return f"{error.get('type', 'error')}: {error.get('reason', '')}".rstrip(": ")
        return str(error or self.said or "no reason was given").strip()[:500]


class Unreachable(Exception):
    """No node answered; `reason` says what the last one did."""

    def __init__(self, node: str, reason: str, *, by_certificate: bool) -> None:
        super().__init__(f"{node}: {reason}")
        self.node, self.reason, self.by_certificate = node, reason, by_certificate


class Client:
    """Asks one node after the other until one answers, and stays with it."""

    def __init__(self, options: SearchOptions, place: Place | None) -> None:
        self._hosts = hosts_of(options, place)
        self._prefix = "/" + options.path_prefix.strip("/") if options.path_prefix else ""
        self._pool = _pool(options, place)
        self._next = 0

    @property
    def shown(self) -> str:
        """The nodes, for a message."""
        return ", ".join(dict.fromkeys(host.shown for host in self._hosts))

    def ask(self, method: str, path: str, body: str | None = None, *, kind: str = JSON) -> Answer:
        """One request; raises Unreachable if no node answers."""
        failure: Unreachable | None = None
        for _ in self._hosts:
            host = self._hosts[self._next % len(self._hosts)]
            try:
                return self._ask(host, method, path=path, body=body, kind=kind)
            except HTTPError as problem:
                failure = _unreachable(host, problem)
                self._next += 1
        assert failure is not None
        raise failure

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def _ask(self, host: Host, method: str, *, path: str, body: str | None, kind: str) -> Answer:
        headers = {"Content-Type": kind} if body is not None else {}
        found = self._pool.request(
            method,
            host.url + self._prefix + path,
            body=body.encode() if body is not None else None,
            headers={**self._pool.headers, **headers},
            retries=False,
        )
        try:
            said = json.loads(found.data) if found.data else None
        except ValueError:
            said = found.data.decode("utf-8", "replace")
        return Answer(found.status, said, host.shown)


def quoted(part: str) -> str:
    """A part of a path."""
    return urllib.parse.quote(part, safe="")


def _pool(options: SearchOptions, place: Place | None) -> urllib3.PoolManager:
    headers: dict[str, str] = {}
    if options.username is not None:
        password = options.password.reveal() if options.password is not None else ""
        headers = urllib3.make_headers(basic_auth=f"{options.username}:{password}")
    trust: dict[str, Any] = {}
    if options.allow_insecure:
        urllib3.disable_warnings(InsecureRequestWarning)
        trust = {"cert_reqs": "CERT_NONE", "assert_hostname": False}
    elif options.authority is not None:
        trust = {"ca_certs": _readable(options.authority, place)}
    timeout = urllib3.Timeout(connect=options.connect_timeout, read=options.socket_timeout)
    return urllib3.PoolManager(headers=headers, timeout=timeout, maxsize=1, **trust)


def _readable(path: str, place: Place | None) -> str:
    try:
        with open(path, "rb"):
            return path
    except OSError as problem:
        raise OptionError(
            f"the file '{path}' of option 'ssl.ca.location' cannot be read",
            detail=f"{problem.strerror}.",
            hint="Give the path of a PEM file on this machine.",
            place=place,
        ) from problem


def _unreachable(host: Host, problem: HTTPError) -> Unreachable:
    cause: BaseException = (
        problem.reason if isinstance(problem, MaxRetryError) and problem.reason else problem
    )
    reason = re.sub(r"^HTTPS?Connection(Pool)?\(.*?\): ", "", str(cause))
    if host.shown == "***":
        reason = type(cause).__name__
    return Unreachable(host.shown, reason.rstrip("."), by_certificate=isinstance(cause, SSLError))

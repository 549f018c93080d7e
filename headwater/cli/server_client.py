"""What commands ask of a server over HTTP, and its errors as they would be told here."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote, urlsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, SSLError

from headwater.cli.parser_server import PORT
from headwater.cli.tokens import is_sendable
from headwater.errors import HeadwaterError, Place, ServiceError, UsageError
from headwater.options import Secret
from headwater.sql.interpolate import resolve
from headwater.sql.secrets import masked

URL, TOKEN = "HEADWATER_SERVER", "HEADWATER_TOKEN"
"""Environment variables."""

TIMEOUT = urllib3.Timeout(connect=5.0, read=300.0)
"""A deployment waits for the end of the former one's step, and compiles what it compares."""


class Refused(HeadwaterError):
    """The server does not do it as things stand; `said` is its whole answer."""

    def __init__(self, message: str, *, detail: str, hint: str, said: dict[str, Any]) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.said = said


class ServerClient:
    """A server by its address.

    >>> ServerClient("http://127.0.0.1:8090").ask("GET", "/applications")
    {'applications': []}
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, timeout: urllib3.Timeout = TIMEOUT
    ) -> None:
        self.url = _address(url or os.environ.get(URL) or f"http://127.0.0.1:{PORT}")
        given = token or os.environ.get(TOKEN)
        headers = {"Accept": "application/json"}
        if given:
            headers["Authorization"] = f"Bearer {_plain(given)}"
        self._pool = urllib3.PoolManager(headers=headers, timeout=timeout, retries=False)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The answer to a request, or what went wrong, raised."""
        return self._read(self.open(method, path, body))

    def open(self, method: str, path: str, body: object = None) -> urllib3.BaseHTTPResponse:
        """An answer that is still to be read, as it comes; a refusal is raised."""
        try:
            answer = self._pool.request(method, self.url + path, json=body, preload_content=False)
        except SSLError as problem:
            raise _untrusted(self.url, str(problem)) from None
        except (HTTPError, LocationValueError) as problem:
            reason = str(getattr(problem, "reason", None) or problem).rpartition(": ")[2]
            raise ServiceError(
                f"no server answers at {self.url}",
                detail=f"{reason}.",
                hint="Start one with headwater serve, or give --server URL.",
            ) from None
        if answer.status >= 400:
            raise _refusal(answer.status, self._read(answer), self.url)
        return answer

    def _read(self, answer: urllib3.BaseHTTPResponse) -> Any:
        try:
            said = json.loads(answer.data or b"{}")
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise ServiceError(f"what answers at {self.url} is not a server of headwater")
        return said


def path_of(*parts: str) -> str:
    """A path whose parts may have any letters: `path_of("applications", "a b")` is `/applications/a%20b`."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _address(said: str) -> str:
    """The address of a server, if it is one."""
    try:
        parts = urlsplit(said)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number
        is_one = False
    if not is_one:
        raise UsageError(f"'{masked(said)}' is not the address of a server", hint="Write http://HOST:PORT.")
    if "@" in parts.netloc:
        raise UsageError(
            "the address of a server has no user and no password in it",
            hint=f"A server asks for a token: give --token, or set {TOKEN}.",
        )
    return said.rstrip("/")


def _plain(token: str) -> str:
    """A token as a request carries it; one that no request can carry is an error that does not show it."""
    meant = Secret(resolve({"token": token}, None)["token"]).reveal()
    if not is_sendable(meant):
        raise UsageError(
            "the token has signs in it that no request can carry",
            detail="A line may end in it, or a letter is not one of ASCII.",
            hint="Give a token as it stands in the server's --token-file.",
        )
    return meant


def _untrusted(url: str, reason: str) -> ServiceError:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return ServiceError(
            f"the certificate of {url} is not one that this machine trusts",
            detail=f"{reason.rpartition('CERTIFICATE_VERIFY_FAILED] ')[2].rpartition(' (')[0]}.",
            hint="Name a file with the certificate of who signed it: SSL_CERT_FILE=authority.pem.",
        )
    return ServiceError(
        f"{url} does not speak TLS as this machine does",
        detail=f"{reason}.",
        hint="A server without --certificate is at http://, not at https://.",
    )


def _refusal(status: int, said: dict[str, Any], url: str) -> HeadwaterError:
    error = said.get("error")
    if not isinstance(error, dict):
        return ServiceError(f"what answers at {url} is not a server of headwater")
    message, detail, hint = (str(error.get(key) or "") for key in ("message", "detail", "hint"))
    if status == 409:
        return Refused(message, detail=detail, hint=hint, said=said)
    place = error.get("place")
    found = Place(**place) if isinstance(place, dict) else None
    return HeadwaterError(message, detail=detail, hint=hint, place=found)

"""Kafka Connect's REST interface: one method for each thing that can be asked of it.

client = ConnectClient("http://localhost:8083")
client.put(read_connector(Path("register-postgres.json")))
client.wait("claims-connector")
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, ProtocolError

from headwater.connect.files import Connector, secrets_of, without
from headwater.connect.status import RUNNING, Status, status_of
from headwater.connect.troubles import hint_for
from headwater.errors import ConnectError
from headwater.nearest import did_you_mean

DEFAULT_URL = "http://localhost:8083"

TIMEOUT = urllib3.Timeout(connect=5.0, read=120.0)
"""Validation asks the database, and a rebalance of the workers holds every answer back."""

BUSY_SECONDS = 60.0
POLL_SECONDS = 0.25
STALE_SECONDS = 10.0
STEADY_SECONDS = 1.5
"""So long everything has to run before it is called running: what cannot begin to stream fails a moment later."""

CONFLICT = 409
MISSING = 404
NOT_KNOWN = (400, 404, 405)
"""How a server answers that does not know what it is asked for."""


class ConnectClient:
    """One cluster, by the address of any of its workers; a user and password in it are sent and never shown."""

    def __init__(self, url: str = DEFAULT_URL) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        _check_port(parts)
        self.url = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if parts.username is not None:
            headers |= urllib3.make_headers(basic_auth=f"{parts.username}:{parts.password or ''}")
        self._pool = urllib3.PoolManager(headers=headers, timeout=TIMEOUT, retries=False)

    def names(self) -> list[str]:
        """The connectors of the cluster."""
        found = self._ask("GET", "/connectors")
        if not isinstance(found, list):
            raise self._stranger(f"It said {str(found)[:80]}")
        return sorted(str(name) for name in found)

    def status(self, name: str) -> Status:
        """How one connector is."""
        return status_of(self._ask("GET", f"{_path(name)}/status", name=name))

    def config(self, name: str) -> dict[str, str]:
        """The options of a connector, secrets and all."""
        return dict(self._ask("GET", f"{_path(name)}/config", name=name))

    def find(self, name: str) -> Status | None:
        """How a connector is, None if the workers do not know it (yet)."""
        code, said = self._send("GET", f"{_path(name)}/status")
        if code == MISSING and _is_own(said):
            return None
        if code >= 400:
            raise self._refusal(code, said)
        return status_of(said)

    def put(self, connector: Connector) -> None:
        """Create a connector or give it new options, if these are valid."""
        self._check_plugin(connector)
        self._validate(connector)
        code, said = self._send("PUT", f"{_path(connector.name)}/config", connector.config)
        if code >= 400:
            raise self._refusal(code, said, hidden=connector.hidden)

    def wait(
        self,
        name: str,
        *,
        seconds: float = BUSY_SECONDS,
        config: Mapping[str, str] | None = None,
        before: Status | None = None,
    ) -> Status:
        """The status once the connector runs, rests or has failed, and its tasks have the options of `config`.

        A failure that stood there `before` is given a while to go.
        """
        began = time.monotonic()
        settled_at: float | None = None
        while True:
            found, now = self.find(name), time.monotonic()
            stale = found == before and now - began < STALE_SECONDS
            if found is not None and found.failed and not stale:
                return found
            settled = found is not None and found.settled and self._has(found, config)
            settled_at = (settled_at or now) if settled else None
            if found is not None and settled_at is not None and now - settled_at >= STEADY_SECONDS:
                return found
            if now - began > seconds:
                raise ConnectError(
                    f"connector '{name}' is not running after {seconds:.0f} seconds",
                    detail=f"It is {_told(found)}.",
                    hint=f"It may still come: headwater connect status {name}.",
                )
            time.sleep(POLL_SECONDS)

    def pause(self, name: str) -> None:
        """Let a connector rest; its place is kept."""
        self._ask("PUT", f"{_path(name)}/pause", name=name)

    def resume(self, name: str) -> None:
        """Let a connector that rests go on."""
        self._ask("PUT", f"{_path(name)}/resume", name=name)

    def restart(self, name: str, *, tasks: str) -> None:
        """Restart a connector, and of its tasks `none`, `all` or those that have `failed`."""
        which = {"none": (False, False), "all": (True, False), "failed": (True, True)}[tasks]
        asked = "includeTasks={}&onlyFailed={}".format(*(str(word).lower() for word in which))
        self._ask("POST", f"{_path(name)}/restart?{asked}", name=name)

    def delete(self, name: str) -> None:
        """Remove a connector and wait until it has gone; what it made at the database stays."""
        self._ask("DELETE", _path(name), name=name)
        deadline = time.monotonic() + BUSY_SECONDS
        while self.find(name) is not None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def _has(self, found: Status, config: Mapping[str, str] | None) -> bool:
        """True if all tasks were given these options."""
        if config is None or found.parts[0].state != RUNNING:
            return True
        tasks = self._ask("GET", f"{_path(found.name)}/tasks", name=found.name)
        return all(task["config"].get(option) == value for task in tasks for option, value in config.items())

    def _check_plugin(self, connector: Connector) -> None:
        kind = connector.config["connector.class"]
        found = [str(plugin["class"]) for plugin in self._ask("GET", "/connector-plugins")]
        if any(
            kind in (full, full.rpartition(".")[2], full.rpartition(".")[2] + "Connector") for full in found
        ):
            return
        raise ConnectError(
            f"kafka connect has no plugin '{kind}'",
            detail=f"At {self.url} there are {', '.join(found) or 'none'}.",
            hint=did_you_mean(
                kind,
                found,
                otherwise="Put the plugin into the worker's plugin.path and restart the worker.",
                cutoff=0.8,
            ),
        )

    def _validate(self, connector: Connector) -> None:
        kind = quote(connector.config["connector.class"].rpartition(".")[2], safe="")
        body = {"name": connector.name, **connector.config}
        code, said = self._send("PUT", f"/connector-plugins/{kind}/config/validate", body)
        if code >= 400:
            raise self._refusal(code, said, hidden=connector.hidden)
        wrong = [
            f"{item['value']['name']}: {' '.join(item['value']['errors'])}"
            for item in said["configs"]
            # Options that others imply are told without a value.
            if item["value"] is not None and item["value"]["errors"]
        ]
        if wrong:
            text = without("; ".join(line.rstrip(". ") for line in wrong), connector.hidden)
            raise ConnectError(
                f"connector '{connector.name}' has wrong options",
                detail=f"{text}.",
                hint=hint_for(text, connector.name)
                if len(wrong) == 1
                else "Mend the options that are named.",
            )

    def _ask(self, method: str, path: str, *, name: str = "") -> Any:
        """The answer, or what went wrong; `name` is the connector that is asked for."""
        code, said = self._send(method, path)
        if code == MISSING and name and _is_own(said):
            raise self._unknown(name)
        if code >= 400:
            hidden = secrets_of(self.config(name)) if name and not path.endswith("/config") else ()
            raise self._refusal(code, said, hidden=hidden)
        return said

    def _send(self, method: str, path: str, body: Mapping[str, str] | None = None) -> tuple[int, Any]:
        """Code and answer. While the workers share out their work they refuse everything: that is waited for."""
        deadline = time.monotonic() + BUSY_SECONDS
        sent = None if body is None else json.dumps(dict(body)).encode()
        while True:
            try:
                answer = self._pool.request(method, self.url + path, body=sent)
            except (HTTPError, LocationValueError) as problem:
                raise self._away(problem) from None
            busy = answer.status == CONFLICT or (answer.status >= 500 and b"rebalance" in answer.data)
            if not busy or time.monotonic() > deadline:
                return answer.status, self._read(answer.data, answer.status)
            time.sleep(POLL_SECONDS)

    def _read(self, data: bytes, code: int) -> Any:
        if not data:
            return {}
        try:
            return json.loads(data)
        except ValueError:
            if code >= 400:
                return {"message": data.decode(errors="replace")[:200]}
            raise self._stranger(f"It said {data[:80].decode(errors='replace')!r}") from None

    def _away(self, problem: Exception) -> ConnectError:
        if isinstance(problem, ProtocolError):
            return self._stranger(f"{problem.args[-1]}")
        reason = str(getattr(problem, "reason", None) or problem).rpartition(": ")[2]
        return ConnectError(
            f"kafka connect does not answer at {self.url}",
            detail=f"{reason}.",
            hint="Check --url, and that a worker runs: headwater services up connect starts one.",
        )

    def _stranger(self, seen: str) -> ConnectError:
        return ConnectError(
            f"what answers at {self.url} is not kafka connect",
            detail=f"{seen}.",
            hint="Check --url; Connect's own port is 8083 unless told otherwise.",
        )

    def _unknown(self, name: str) -> ConnectError:
        known = self.names()
        return ConnectError(
            f"there is no connector '{name}'",
            detail=f"The connectors at {self.url} are {', '.join(known) or 'none'}.",
            hint=did_you_mean(name, known, otherwise="headwater connect list names them."),
        )

    def _refusal(self, code: int, said: Any, *, hidden: tuple[str, ...] = ()) -> ConnectError:
        if code in NOT_KNOWN and not _is_own(said):
            return self._stranger(f"It answered with code {code}")
        text = str(said.get("message", "")) if isinstance(said, dict) else ""
        if code in (401, 403):
            hint = "Put user and password into --url: http://USER:PASSWORD@HOST:8083."
        else:
            hint = hint_for(text)
        return ConnectError(
            "kafka connect refused the request",
            detail=f"{without(' '.join(text.split()), hidden) or 'It did not say why'} (code {code})",
            hint=hint,
        )


def _check_port(parts: SplitResult) -> None:
    try:
        parts.port  # noqa: B018  # reading it is the check
    except ValueError:
        raise ConnectError(
            f"'{parts.netloc.rpartition('@')[2]}' is not an address",
            detail="A port is a number from 1 to 65535.",
            hint="Check --url; Connect's own port is 8083 unless told otherwise.",
        ) from None


def _is_own(said: object) -> bool:
    """True for a refusal that Connect itself wrote: every one of them has a code in it."""
    return isinstance(said, dict) and "error_code" in said


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _told(found: Status | None) -> str:
    if found is None:
        return "not known to the workers yet"
    parts = [f"task {p.task} {p.state}" for p in found.parts[1:]] or ["without tasks"]
    return f"{found.parts[0].state}, {', '.join(parts)}"

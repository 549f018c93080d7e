"""What the tests of the search sinks share: sink tables, a client of the server, and a server with moods."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import urllib3

from headwater.options import read_options
from headwater.schema import Schema
from headwater.services.certificates import Certificates
from headwater.sinks.base import SinkContext, SinkTable
from headwater.sinks.search.options import Elasticsearch7Options
from headwater.sinks.search.sink import SearchSink, open_sink
from tests.ends.kafka_world import Heard
from tests.stage.shared import fresh


def search_table(url: str, columns: Schema, given: Mapping[str, str], **more: Any) -> SinkTable:
    """A sink table of connector 'elasticsearch-7'."""
    told = {"hosts": url, "sink.bulk-flush.backoff.delay": "10ms", **given}
    options = read_options(Elasticsearch7Options, told, owner="the connector", place=None)
    return SinkTable("t", columns, options, **more)


@contextmanager
def opened(*tables: SinkTable, pipeline: str = "", waits: Heard | None = None) -> Iterator[SearchSink]:
    """An open sink; a pipeline of its own unless one is named."""
    sink = open_sink(tables, SinkContext(pipeline or fresh("pipeline"), waits=waits or Heard()))
    try:
        yield sink
    finally:
        sink.close()


_POOL = urllib3.PoolManager()


def ask(url: str, method: str, path: str, body: object = None) -> Any:
    """What the server answers, as JSON."""
    sent = None if body is None else json.dumps(body)
    answer = _POOL.request(method, url + path, body=sent, headers={"Content-Type": "application/json"})
    return json.loads(answer.data) if answer.data else None


def documents(url: str, index: str) -> dict[str, Any]:
    """Every document of an index by its id."""
    ask(url, "POST", f"/{index}/_refresh")
    found = ask(url, "GET", f"/{index}/_search?size=1000")
    return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}


@dataclass
class Moody:
    """A server over HTTP whose answers to bulk requests are written down beforehand; all else it accepts."""

    moods: list[tuple[int, Any]]
    bulks: list[list[str]] = field(default_factory=list)

    def bulk(self, body: str) -> tuple[int, Any]:
        """The next mood; after the last one all is well."""
        self.bulks.append([json.loads(line)["index"]["_id"] for line in body.splitlines()[::2]])
        return self.moods.pop(0) if self.moods else (200, {"errors": False})

    @contextmanager
    def serving(self, certificates: Certificates | None = None) -> Iterator[str]:
        """The address at which it answers; over TLS if it has certificates."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if certificates is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates.server)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{'http' if certificates is None else 'https'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def refusal(status: int, kind: str) -> dict[str, Any]:
    """An item of a bulk answer that was refused."""
    return {"index": {"status": status, "error": {"type": kind, "reason": "for a reason"}}}


WELL = {"index": {"status": 201}}


def _handler(moody: Moody) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            path = unquote(self.path)
            if path.startswith("/_bulk"):
                self._say(*moody.bulk(body))
            elif self.command == "GET":
                self._say(404, {})
            else:
                self._say(200, {})

        def _say(self, status: int, said: Any) -> None:
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", "0" if self.command == "HEAD" else str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """A test has nothing to print."""

        do_GET = do_PUT = do_POST = do_HEAD = _answer

    return Handler

"""The options of connectors 'elasticsearch-7', 'elasticsearch-8' and 'opensearch'."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from headwater.errors import OptionError, Place
from headwater.options import Duration, Secret, Size, option

_LEVELS = ("exactly-once", "at-least-once", "none")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """What every search connector takes."""

    hosts: str = option("hosts", "where the nodes are: http://host:9200;http://other:9200")
    index: str = option("index", "the index; may hold {column} and {column|yyyy-MM-dd}")
    delimiter: str = option(
        "document-id.key-delimiter", "what stands between the values of a key in a document's id", default="_"
    )
    username: str | None = option("username", "the user", default=None)
    password: Secret | None = option("password", "the user's password", default=None)
    path_prefix: str = option(
        "connection.path-prefix", "what stands before every path, as behind a proxy", default=""
    )
    max_actions: int = option(
        "sink.bulk-flush.max-actions", "how many documents one request holds at most", default=1000
    )
    max_size: str = option("sink.bulk-flush.max-size", "how large one request is at most", default="2mb")
    interval: Duration = option(
        "sink.bulk-flush.interval", "accepted; a batch is sent at once and whole", default=Duration(1)
    )
    strategy: str = option(
        "sink.bulk-flush.backoff.strategy",
        "how pauses grow while a node refuses: CONSTANT stays as it is, the others double each time",
        default="EXPONENTIAL",
        choices=("EXPONENTIAL", "CONSTANT", "DISABLED"),
    )
    delay: Duration = option("sink.bulk-flush.backoff.delay", "the first pause", default=Duration(0.05))
    max_retries: int | None = option(
        "sink.bulk-flush.backoff.max-retries",
        "accepted; what a node refuses for now is tried until it is in",
        default=None,
    )
    connect_timeout: Duration = option(
        "connection.timeout", "how long a node may take to accept a connection", default=Duration(5)
    )
    socket_timeout: Duration = option(
        "socket.timeout", "how long a node may take to answer", default=Duration(60)
    )
    request_timeout: Duration | None = option(
        "connection.request-timeout",
        "accepted; there is one connection and nothing to wait for",
        default=None,
    )
    authority: str | None = option(
        "ssl.ca.location", "a PEM file with the authority that signed the nodes' certificates", default=None
    )
    allow_insecure: bool = option("allow-insecure", "take any certificate a node shows", default=False)
    guarantee: str = option(
        "sink.delivery-guarantee",
        "accepted; a batch that comes again changes nothing",
        default="exactly-once",
        choices=_LEVELS,
    )
    failure_handler: str = option(
        "failure-handler",
        "what happens to a document that is refused: for good it stops the pipeline, for now it is tried again",
        default="fail",
        choices=("fail", "retry-rejected"),
    )
    flush_on_checkpoint: bool = option(
        "sink.flush-on-checkpoint", "accepted; a batch is always flushed", default=True
    )
    parallelism: int | None = option("sink.parallelism", "accepted; one process writes", default=None)
    format: str = option("format", "how documents are written", default="json", choices=("json",))
    json: dict[str, str] = option("json.", "options of format json", prefix=True)


@dataclass(frozen=True, kw_only=True)
class Elasticsearch7Options(SearchOptions):
    """The options of connector 'elasticsearch-7'."""

    document_type: str | None = option(
        "document-type", "accepted; documents have no types since Elasticsearch 7", default=None
    )


@dataclass(frozen=True)
class Host:
    """One node: its address, and how messages name it."""

    url: str
    shown: str


def hosts_of(options: SearchOptions, place: Place | None) -> list[Host]:
    """The nodes that `hosts` names."""
    hidden = isinstance(options.hosts, Secret)
    found = [
        _host(part.strip(), hidden=hidden, place=place) for part in options.hosts.split(";") if part.strip()
    ]
    if not found:
        raise OptionError(
            "option 'hosts' names no node",
            hint="Write it as 'hosts' = 'http://localhost:9200'.",
            place=place,
        )
    return found


def _host(text: str, *, hidden: bool, place: Place | None) -> Host:
    try:
        url = parse_url(text)
    except LocationParseError:
        url = parse_url("")
    if url.scheme not in ("http", "https") or not url.host:
        found = re.search(r":(\d+)/?$", text)
        is_high = found is not None and int(found[1]) > 65535
        near = f"Did you mean 'http://{text}'?" if "://" not in text and not hidden else "Write it so."
        raise OptionError(
            "option 'hosts' does not name a node",
            detail="A node is written as http://host:9200 or https://host:9200, several with ; between them.",
            hint="A port is a number from 1 to 65535." if is_high else near,
            place=place,
        )
    if url.auth:
        raise OptionError(
            "option 'hosts' holds a user",
            detail="Names and passwords do not belong into an address.",
            hint="Use the options 'username' and 'password'.",
            place=place,
        )
    port = url.port or (443 if url.scheme == "https" else 80)
    plain = f"{url.scheme}://{url.host}:{port}{(url.path or '').rstrip('/')}"
    return Host(plain, "***" if hidden else plain)


def group_of(options: SearchOptions) -> str:
    """All indices of one cluster are one group, so that the batch id comes after all of them."""
    prefix = "/" + options.path_prefix.strip("/") if options.path_prefix else ""
    where = ",".join(sorted(host.url + prefix for host in hosts_of(options, None)))
    if isinstance(options.hosts, Secret) or isinstance(options.path_prefix, Secret):
        where = hashlib.sha256(where.encode()).hexdigest()[:12]
    return f"search-{where}"


def bytes_of(text: str, *, name: str, place: Place | None) -> int:
    """A size as Flink writes it, `2mb`, in bytes."""
    try:
        return Size.of(text)
    except ValueError:
        raise OptionError(
            f"option '{name}' does not take the value '{text}'",
            detail="It takes a size, as 2mb, 500 kb or 1048576.",
            place=place,
        ) from None

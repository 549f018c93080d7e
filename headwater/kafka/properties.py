"""What users write as `properties.*`, for either kind of client.

Java's names (as Flink's users write them) and librdkafka's (as in `kcat -X`) may be mixed; each side gets its own
names and forms, and what only the other side knows is left out. A name that neither knows is passed on: the client
refuses it, and `clients` says which name is near.

    client_config({"bootstrap.servers": "k:9092", "sasl.jaas.config": "...ScramLoginModule required username=..."})
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from headwater.errors import OptionError
from headwater.kafka import stores
from headwater.kafka.names import JAVA_ONLY, RDKAFKA_ONLY, RENAMED, SPARK_DECIDES, is_secret
from headwater.options import Secret


class Config(dict[str, Any]):
    """A client's configuration that is used as a dict and never shows its secrets."""

    def __repr__(self) -> str:
        return repr({name: "***" if is_secret(name) else value for name, value in self.items()})

    __str__ = __repr__


def cluster_of(properties: Mapping[str, str]) -> str:
    """The group of everything on one cluster: `kafka-a:9092,b:9092`, whatever the order of the servers."""
    where = ",".join(servers(properties))
    if isinstance(_given_servers(properties), Secret):
        where = hashlib.sha256(where.encode()).hexdigest()[:12]
    return f"kafka-{where}"


def servers(properties: Mapping[str, str]) -> list[str]:
    """The bootstrap servers, sorted."""
    parts = (part.strip().lower() for part in _given_servers(properties).split(","))
    return sorted({part for part in parts if part})


def shown_servers(properties: Mapping[str, str]) -> str:
    """The bootstrap servers for a message; *** if they came from a reference."""
    if isinstance(_given_servers(properties), Secret):
        return "***"
    return ", ".join(servers(properties)) or "no server"


def _given_servers(properties: Mapping[str, str]) -> str:
    return properties.get("bootstrap.servers") or properties.get("metadata.broker.list") or ""


def client_config(properties: Mapping[str, str]) -> Config:
    """The properties as confluent-kafka takes them."""
    properties = _plain(properties)
    config = Config(
        {
            RENAMED.get(name, name): _for_rdkafka(name, text)
            for name, text in properties.items()
            if name not in JAVA_ONLY
        }
    )
    config.update(stores.for_rdkafka(properties))
    stores.drop_rdkafka_names(config, properties)
    if "sasl.jaas.config" in properties:
        user, password = login(properties["sasl.jaas.config"])
        config.update({"sasl.username": user, "sasl.password": password})
    return config


def java_config(properties: Mapping[str, str]) -> Config:
    """The properties as Java's client takes them, certificates as text; for Spark each name gets `kafka.` before it."""
    given = _plain(properties)
    if given.get("enable.ssl.certificate.verification", "true").lower() == "false":
        raise OptionError(
            "'properties.enable.ssl.certificate.verification' = 'false' is not possible here",
            detail="Large batches are read by Java's client, which always verifies the broker's certificate.",
            hint="Give the certificate of the broker's authority as 'properties.ssl.ca.location'.",
        )
    names = {other: name for name, other in RENAMED.items()}
    config = Config(
        {
            names.get(name, name): text
            for name, text in given.items()
            if (name in names or name not in RDKAFKA_ONLY) and name not in SPARK_DECIDES
        }
    )
    config["bootstrap.servers"] = given.get("bootstrap.servers") or given["metadata.broker.list"]
    if "security.protocol" in given:
        config["security.protocol"] = given["security.protocol"].upper()
    if config.get("ssl.endpoint.identification.algorithm") == "none":
        config["ssl.endpoint.identification.algorithm"] = ""
    stores.drop_java_names(config)
    config.update(stores.for_java(given))
    config.update(_java_login(given))
    return config


def _plain(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with the text of each reference; an error if no server is named."""
    if not servers(properties):
        raise OptionError(
            "there is no 'properties.bootstrap.servers'",
            detail="It says where the brokers are.",
            hint="Add 'properties.bootstrap.servers' = 'host:9092' to the WITH clause.",
        )
    for server in servers(properties):
        port = server.rpartition(":")[2]
        if ":" in server and not server.endswith("]") and not (port.isdecimal() and 0 < int(port) < 65536):
            shown = "***" if isinstance(_given_servers(properties), Secret) else server
            raise OptionError(
                f"'properties.bootstrap.servers' does not take the value '{shown}'",
                detail="A port is a number from 1 to 65535.",
                hint="Write it as 'host:9092', several with commas between them.",
            )
    return {name: text.reveal() if isinstance(text, Secret) else text for name, text in properties.items()}


def _for_rdkafka(name: str, text: str) -> str:
    match name, text:
        case "ssl.endpoint.identification.algorithm", "":
            return "none"
        case "auto.offset.reset", "none":
            return "error"
        case "send.buffer.bytes" | "receive.buffer.bytes", "-1":
            return "0"
        case "partition.assignment.strategy", _ if "." in text:
            return ",".join(_assignor(part) for part in text.split(","))
        case _:
            return text


def _assignor(java_class: str) -> str:
    short = java_class.strip().rsplit(".", 1)[-1].removesuffix("Assignor")
    return re.sub(r"(?<!^)(?=[A-Z])", "-", short).lower().replace("round-robin", "roundrobin")


_LOGIN = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([^\s;"\']+))')


def login(jaas: str) -> tuple[str, str]:
    """User and password of a `sasl.jaas.config`."""
    module = jaas.split(None, 1)[0] if jaas.strip() else ""
    values = {name: double or single or bare for name, double, single, bare in _LOGIN.findall(jaas)}
    if not module.endswith(("ScramLoginModule", "PlainLoginModule")) or "username" not in values:
        raise OptionError(
            "'properties.sasl.jaas.config' cannot be understood",
            detail="It names a login module and gives a username and a password: "
            'org.apache.kafka.common.security.scram.ScramLoginModule required username="..." password="...";',
            hint="Use ScramLoginModule or PlainLoginModule, or 'properties.sasl.username' and "
            "'properties.sasl.password'.",
        )
    unescaped = {name: re.sub(r"\\(.)", r"\1", value) for name, value in values.items()}
    return unescaped["username"], unescaped.get("password", "")


def _java_login(given: Mapping[str, str]) -> dict[str, str]:
    mechanism = given.get("sasl.mechanism") or given.get("sasl.mechanisms")
    if mechanism is None:
        return {}
    if "sasl.username" not in given or "sasl.jaas.config" in given:
        return {"sasl.mechanism": mechanism}
    quoted = {
        name: '"' + given.get(f"sasl.{name}", "").replace("\\", "\\\\").replace('"', '\\"') + '"'
        for name in ("username", "password")
    }
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"org.apache.kafka.common.security.{module} required "
        f"username={quoted['username']} password={quoted['password']};",
    }


def scrubbed(text: str, properties: Mapping[str, str]) -> str:
    """A text of a client without the values of secret properties that may stand in it."""
    hidden: set[str] = set()
    for name, value in properties.items():
        plain = value.reveal() if isinstance(value, Secret) else value
        if is_secret(name) or isinstance(value, Secret):
            hidden.add(plain)
        if name == "sasl.jaas.config":
            hidden.add(login(plain)[1])
    if isinstance(_given_servers(properties), Secret):
        found = servers(properties)
        hidden |= {*found, *(server.rsplit(":", 1)[0] for server in found)}
    for secret in sorted(hidden - {""}, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text

"""Certificates of both kinds of client: stores and PEM texts of Java, PEM files and texts of librdkafka."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.errors import OptionError
from headwater.kafka import pem
from headwater.kafka.names import JAVA_STORES


def for_rdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """What librdkafka needs in place of Java's stores; its own names stay as they are."""
    config: dict[str, str] = {}
    if "ssl.truststore.certificates" in given:
        name = "ssl.truststore.certificates"
        config["ssl.ca.pem"] = pem.certificates(given[name], name)
    elif "ssl.truststore.location" in given:
        path = given["ssl.truststore.location"]
        _refuse_store(path, name="ssl.truststore.location", readable=("PEM",))
        config["ssl.ca.location"] = path
    if "ssl.keystore.key" in given:
        config["ssl.key.pem"] = pem.private_key(given["ssl.keystore.key"], "ssl.keystore.key").text
        chain = given.get("ssl.keystore.certificate.chain", "")
        config["ssl.certificate.pem"] = pem.certificates(chain, "ssl.keystore.certificate.chain")
    elif "ssl.keystore.location" in given:
        path = given["ssl.keystore.location"]
        if _refuse_store(path, name="ssl.keystore.location", readable=("PEM", "PKCS12")) == "PEM":
            config.update({"ssl.key.location": path, "ssl.certificate.location": path})
    return config


def for_java(given: Mapping[str, str]) -> dict[str, str]:
    """What Java needs: PEM as text, since executors do not have the driver's files; other stores by their path."""
    return _java_trust(given) | _java_key(given)


def drop_java_names(config: dict[str, str]) -> None:
    """Remove what `for_java` gives anew."""
    for name in JAVA_STORES:
        config.pop(name, None)


def drop_rdkafka_names(config: dict[str, str], given: Mapping[str, str]) -> None:
    """Remove a Java store's path where its PEM content took its place: librdkafka reads that name as PKCS12."""
    if "ssl.keystore.location" in given and "ssl.key.location" in config:
        config.pop("ssl.keystore.location", None)
        config.pop("ssl.keystore.password", None)


def _java_trust(given: Mapping[str, str]) -> dict[str, str]:
    for name in ("ssl.truststore.certificates", "ssl.ca.pem"):
        if name in given:
            return {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.certificates": pem.certificates(given[name], name),
            }
    for name in ("ssl.truststore.location", "ssl.ca.location"):
        if given.get(name, "probe") != "probe":
            content = pem.read_file(given[name], name)
            kind = pem.kind_of(content)
            if kind == "PEM":
                text = pem.certificates(content.decode("utf-8", "replace"), name)
                return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": text}
            return {"ssl.truststore.type": kind} | _kept(
                given, "ssl.truststore.location", "ssl.truststore.password"
            )
    return {}


def _java_key(given: Mapping[str, str]) -> dict[str, str]:
    for key, chain in (
        ("ssl.keystore.key", "ssl.keystore.certificate.chain"),
        ("ssl.key.pem", "ssl.certificate.pem"),
    ):
        if key in given:
            return _java_pem(given, (given[key], key), (given.get(chain, ""), chain))
    if "ssl.key.location" in given:
        names = ("ssl.key.location", "ssl.certificate.location")
        key_text, chain_text = (_text(given.get(name, ""), name) for name in names)
        return _java_pem(given, (key_text, names[0]), (chain_text, names[1]))
    name = "ssl.keystore.location"
    if name not in given:
        return {}
    content = pem.read_file(given[name], name)
    if pem.kind_of(content) == "PEM":
        text = content.decode("utf-8", "replace")
        return _java_pem(given, (text, name), (text, name))
    return {"ssl.keystore.type": pem.kind_of(content)} | _kept(
        given, name, "ssl.keystore.password", "ssl.key.password"
    )


def _java_pem(given: Mapping[str, str], key: tuple[str, str], chain: tuple[str, str]) -> dict[str, str]:
    block = pem.private_key(*key)
    if block.label not in ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        raise OptionError(
            f"the private key of property '{key[1]}' has a form that Java's client does not read",
            detail=f"It begins with BEGIN {block.label}; PKCS 8 begins with BEGIN PRIVATE KEY.",
            hint="Convert it: openssl pkcs8 -topk8 -nocrypt -in old.key -out new.key.",
        )
    config = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": block.text,
        "ssl.keystore.certificate.chain": pem.certificates(*chain),
    }
    return config | (_kept(given, "ssl.key.password") if block.label.startswith("ENCRYPTED") else {})


def _text(path: str, name: str) -> str:
    return pem.read_file(path, name).decode("utf-8", "replace")


def _kept(given: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: given[name] for name in names if name in given}


def _refuse_store(path: str, *, name: str, readable: tuple[str, ...]) -> str:
    """The kind of a store, or the error of one that librdkafka cannot read and how to convert it."""
    kind = pem.kind_of(pem.read_file(path, name))
    if kind in readable:
        return kind
    trust = "truststore" in name
    to_p12 = f"keytool -importkeystore -srckeystore {path} -destkeystore store.p12 -deststoretype PKCS12"
    to_pem = f"openssl pkcs12 -in {'store.p12' if kind == 'JKS' else path} -nokeys -out ca.pem"
    steps = [to_p12] * (kind == "JKS") + [to_pem] * trust
    then = (
        "'properties.ssl.ca.location' = 'ca.pem'"
        if trust
        else "'properties.ssl.keystore.location' = 'store.p12'"
    )
    raise OptionError(
        f"the {'truststore' if trust else 'keystore'} '{path}' is a {kind} file, which cannot be read here",
        detail=f"Property '{name}' takes {' or '.join(readable)}.",
        hint=f"Convert it: {'; '.join(steps)}. Then write {then}.",
    )

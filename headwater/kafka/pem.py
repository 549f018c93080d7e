"""Certificates and keys as PEM text: read, told apart, and written so that both kinds of client read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import OptionError

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One part of a PEM text, as `CERTIFICATE` or `PRIVATE KEY`."""

    label: str
    text: str


def blocks(text: str) -> list[Block]:
    r"""The parts of a PEM text; line ends may have become blanks or the two characters `\n` on the way."""
    return [Block(label, _written(label, body)) for label, body in _BLOCK.findall(text.replace("\\n", "\n"))]


def _written(label: str, body: str) -> str:
    if ":" not in body:
        packed = re.sub(r"\s", "", body)
        body = "\n" + "\n".join(packed[at : at + 64] for at in range(0, len(packed), 64)) + "\n"
    return f"-----BEGIN {label}-----{body}-----END {label}-----\n"


def certificates(text: str, name: str) -> str:
    """The certificates of a PEM text, in order."""
    found = [block.text for block in blocks(text) if block.label.endswith("CERTIFICATE")]
    if not found:
        raise OptionError(
            f"there is no certificate in property '{name}'",
            detail="A PEM text has lines BEGIN CERTIFICATE and END CERTIFICATE.",
            hint="Give the text of a PEM certificate, or the path of a PEM file where a location is asked for.",
        )
    return "".join(found)


def private_key(text: str, name: str) -> Block:
    """The private key of a PEM text."""
    found = [block for block in blocks(text) if block.label.endswith("PRIVATE KEY")]
    if not found:
        raise OptionError(
            f"there is no private key in property '{name}'",
            detail="A PEM text of a key has lines BEGIN PRIVATE KEY and END PRIVATE KEY.",
            hint="Give the key's PEM text, or the path of its PEM file where a location is asked for.",
        )
    return found[0]


def read_file(path: str, name: str) -> bytes:
    """The bytes of a file that a property names."""
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise OptionError(
            f"the file '{path}' of property '{name}' cannot be read",
            detail=f"{problem.strerror}.",
            hint="Give a path that exists on this machine and that this user may read.",
        ) from problem


def kind_of(content: bytes) -> str:
    """What a store is, by its first bytes, whatever its name or declared type: PEM, PKCS12 or JKS."""
    if content[:4] in (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"):
        return "JKS"
    return "PEM" if b"-----BEGIN " in content else "PKCS12"

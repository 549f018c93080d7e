"""SCRAM-SHA-256 (RFC 5802, RFC 7677): a password is proved on both sides and sent by neither.

Several passwords may be right for one user, since a server has several tokens: all are salted alike, so that the one
that a client proves is only known from its proof.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MECHANISM = "SCRAM-SHA-256"
ROUNDS = 4096
NO_BINDING = "n,,"
SALT = secrets.token_bytes(16)
"""One for the process: keys are made once for each password."""


class Unproved(Exception):
    """The password is wrong, or the conversation is not one of SCRAM."""


@dataclass(frozen=True)
class _Keys:
    client: bytes
    server: bytes

    @property
    def stored(self) -> bytes:
        return hashlib.sha256(self.client).digest()


class Prover:
    """The side that asks for a proof.

    >>> prover = Prover(["secret"])
    >>> challenge = prover.challenge(b"n,,n=,r=abc")
    """

    def __init__(self, passwords: Sequence[str]) -> None:
        # Somebody without any password is led through the same conversation, and refused at its end.
        self._passwords = tuple(passwords) or (secrets.token_urlsafe(),)
        self._nonce = self._said = ""
        self._header = NO_BINDING

    def challenge(self, first: bytes) -> bytes:
        """The answer to the first message of the client."""
        binding, _, rest = _text(first).partition(",")
        name, _, bare = rest.partition(",")
        if binding not in ("n", "y") or not bare:
            raise Unproved("channel binding is not offered")
        self._header = f"{binding},{name},"
        self._nonce = _parts(bare).get("r", "") + secrets.token_urlsafe(18)
        asked = f"r={self._nonce},s={_base64(SALT)},i={ROUNDS}"
        self._said = f"{bare},{asked}"
        return asked.encode()

    def confirm(self, last: bytes) -> bytes:
        """The answer to the last message of the client, whose proof is right."""
        text = _text(last)
        parts = _parts(text)
        without, _, _ = text.rpartition(",p=")
        is_ours = parts.get("r") == self._nonce and parts.get("c") == _base64(self._header.encode())
        said = f"{self._said},{without}".encode()
        proof = _from_base64(parts.get("p", ""))
        found = [keys for keys in map(_our_keys, self._passwords) if _proves(keys, said, proof)]
        if not (is_ours and found):
            raise Unproved("the proof is wrong")
        return f"v={_base64(_signed(found[0].server, said))}".encode()


class Client:
    """The side that proves a password."""

    def __init__(self, password: str) -> None:
        self._password = password
        self._bare = f"n=,r={secrets.token_urlsafe(18)}"
        self._expected = b""

    def first(self) -> bytes:
        """What the client begins with."""
        return (NO_BINDING + self._bare).encode()

    def proof(self, challenge: bytes) -> bytes:
        """The answer to the server's challenge."""
        parts = _parts(_text(challenge))
        keys = _keys(self._password, _from_base64(parts["s"]), int(parts["i"]))
        without = f"c={_base64(NO_BINDING.encode())},r={parts['r']}"
        said = f"{self._bare},{_text(challenge)},{without}".encode()
        self._expected = _signed(keys.server, said)
        return f"{without},p={_base64(_xor(keys.client, _signed(keys.stored, said)))}".encode()

    def check(self, last: bytes) -> None:
        """The server knows the password too."""
        if not hmac.compare_digest(_from_base64(_parts(_text(last)).get("v", "")), self._expected):
            raise Unproved("the server does not know the password")


def _proves(keys: _Keys, said: bytes, proof: bytes) -> bool:
    stored = hashlib.sha256(_xor(proof, _signed(keys.stored, said))).digest()
    return len(proof) == len(keys.client) and hmac.compare_digest(stored, keys.stored)


@lru_cache(maxsize=1_000)
def _our_keys(password: str) -> _Keys:
    return _keys(password, SALT, ROUNDS)


def _keys(password: str, salt: bytes, rounds: int) -> _Keys:
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    return _Keys(_signed(salted, b"Client Key"), _signed(salted, b"Server Key"))


def _signed(key: bytes, said: bytes) -> bytes:
    return hmac.digest(key, said, "sha256")


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=False))


def _parts(text: str) -> dict[str, str]:
    return {part[:1]: part[2:] for part in text.split(",") if part[1:2] == "="}


def _text(said: bytes) -> str:
    try:
        return said.decode()
    except UnicodeDecodeError:
        raise Unproved("the message is no text") from None


def _base64(said: bytes) -> str:
    return base64.b64encode(said).decode()


def _from_base64(said: str) -> bytes:
    try:
        return base64.b64decode(said, validate=True)
    except ValueError:
        raise Unproved("the message is not base64") from None

"""Who may do what: tokens that may do everything, tokens that may only read, and nobody else from elsewhere."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.errors import HeadwaterError
from headwater.options import Secret

LOCAL = ("127.0.0.1", "localhost", "::1")
READING = ("GET", "HEAD", "OPTIONS")
OPEN = ("/health", "/ready")
"""What tells nothing but that the server is there: whoever watches over it needs no token."""


class Unknown(HeadwaterError):
    """Nobody knows who asks."""


class Forbidden(HeadwaterError):
    """Who asks may not do this."""


@dataclass(frozen=True)
class Access:
    """The tokens by the name of who has them. Without any, who can reach the server may do everything."""

    writers: Mapping[str, Secret] = field(default_factory=dict)
    readers: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """True if no token is asked for."""
        return not self.writers and not self.readers

    def is_known(self, token: str) -> bool:
        """True if somebody has this token."""
        return _owner({**self.writers, **self.readers}, token) is not None

    def who(self, token: str | None, method: str) -> str:
        """The name of who has a token, if it allows the method."""
        if self.is_open:
            return "local"
        writer, reader = _owner(self.writers, token), _owner(self.readers, token)
        if writer is not None:
            return writer
        if reader is None:
            raise Unknown(
                "a token is needed" if token is None else "the token is not known",
                hint="Send the header Authorization: Bearer TOKEN, or give --token to the command.",
            )
        if method not in READING:
            raise Forbidden("this token may only read", hint="Use a token that may also write.")
        return reader


def _owner(tokens: Mapping[str, Secret], token: str | None) -> str | None:
    """Who has a token. All are compared, each in constant time: how long it takes says nothing."""
    given = (token or "").encode()
    found = [name for name, known in tokens.items() if hmac.compare_digest(known.reveal().encode(), given)]
    return found[0] if found and given else None

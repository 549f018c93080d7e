"""How a connection to the server is encrypted, and how each side knows the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from headwater.errors import OptionError
from headwater.options import Secret
from headwater.postgres_tls import check_words

THEIRS = "database."
"""What Debezium writes before the names."""


@dataclass(frozen=True)
class Tls:
    """What was said of it; what was not is up to the client library, which encrypts if the server can (prefer)."""

    sslmode: str = ""
    sslrootcert: str = ""
    sslcert: str = ""
    sslkey: str = ""
    sslpassword: Secret = Secret()

    def settings(self) -> dict[str, str]:
        """What was said, for the client library; the password as it is."""
        said = {name: value for name, value in asdict(self).items() if value}
        return {name: v.reveal() if isinstance(v, Secret) else v for name, v in said.items()}


NAMES = tuple(field.name for field in fields(Tls))


def with_debezium(own: Tls, debezium: Mapping[str, str]) -> Tls:
    """What two ways of writing it say together."""
    said: dict[str, str] = {}
    for name in NAMES:
        theirs, ours = debezium.get(THEIRS + name, ""), getattr(own, name)
        if theirs and ours and theirs != ours:
            raise OptionError(
                f"options '{name}' and 'debezium.{THEIRS}{name}' contradict each other",
                detail="They say the same thing, once in Debezium's words.",
                hint=f"Keep '{name}'.",
            )
        said[name] = ours or theirs
    password = Secret(said.pop("sslpassword"))
    both = Tls(**said, sslpassword=password)
    check_words(vars(both))
    return both

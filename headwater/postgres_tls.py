"""TLS as the client library of Postgres does it: its modes, the files it reads, and what its complaints mean.

The library goes on in silence where a file that is named does not exist, with less than was asked for. Here that is an
error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from headwater.errors import OptionError, Place
from headwater.nearest import did_you_mean

MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
CHECKING = ("require", "verify-ca", "verify-full")
"""The modes that never fall back to a connection on which the authority's certificate was not asked."""

FILES = ("sslrootcert", "sslcert", "sslkey")

SYSTEM = "system"
"""Instead of a file of authorities: those of the machine."""


def check_words(settings: Mapping[str, str], place: Place | None = None) -> None:
    """What is said of TLS can be meant, whether or not the files are there."""
    mode = settings.get("sslmode", "")
    if mode and mode not in MODES:
        raise OptionError(
            f"'sslmode' does not take the value '{mode}'",
            detail=f"It takes {', '.join(MODES)}.",
            hint=did_you_mean(mode, MODES, otherwise="Use 'verify-full'."),
            place=place,
        )
    if settings.get("sslrootcert") and mode not in CHECKING:
        raise OptionError(
            "'sslrootcert' needs a mode that checks the server",
            detail="Without one, a connection that is not encrypted would be taken as well.",
            hint="Set 'sslmode' to 'verify-full'.",
            place=place,
        )
    for name, needed in (("sslcert", "sslkey"), ("sslkey", "sslcert"), ("sslpassword", "sslkey")):
        if settings.get(name) and not settings.get(needed):
            raise OptionError(
                f"'{name}' needs '{needed}'",
                detail="A client shows a certificate ('sslcert') and proves with its key ('sslkey') that it is its own.",
                hint=f"Add '{needed}'.",
                place=place,
            )


def checked(settings: Mapping[str, str], place: Place | None = None) -> dict[str, str]:
    """Settings of a connection that can be handed to the library: every file that they name is there."""
    for name in FILES:
        named = settings.get(name, "")
        if not named or (name == "sslrootcert" and named == SYSTEM) or Path(named).is_file():
            continue
        raise OptionError(
            f"there is no file for '{name}'",
            detail=f"'{named}' does not exist, or may not be looked at.",
            hint="Give the whole path of a file on the machine that Headwater runs on.",
            place=place,
        )
    # Without any password the library would ask the terminal for that of a key that is locked.
    unasked = {"sslpassword": " "} if "sslkey" in settings else {}
    return unasked | dict(settings)


def complaint(said: str) -> tuple[str, str] | None:
    """What is wrong, as the end of a sentence about the server, and what to do; None if it is not about TLS.

    >>> complaint('server does not support SSL, but SSL was required')
    ('does not speak TLS', "Turn it on there (ssl = on), or set 'sslmode' to 'prefer'.")
    """
    return next(((what, hint) for seen, what, hint in _COMPLAINTS if re.search(seen, said)), None)


_AUTHORITY = "Set 'sslrootcert' to the certificate of the authority that signed the server's."
_OWN = (
    "It is a PEM file, the key belongs to the certificate and is readable by nobody else (chmod 600), and 'sslpassword'"
    " opens it if it is locked."
)

_COMPLAINTS = (
    (
        "does not support SSL",
        "does not speak TLS",
        "Turn it on there (ssl = on), or set 'sslmode' to 'prefer'.",
    ),
    (
        "does not match host name|no matching server name",
        "shows the certificate of another host",
        "Come to it under a name that stands in its certificate, or set 'sslmode' to 'verify-ca'.",
    ),
    ("root certificate file .* does not exist", "cannot be checked: no authority is named", _AUTHORITY),
    (
        "could not read root certificate file|could not load system root",
        "cannot be checked: the file of 'sslrootcert' cannot be read",
        _AUTHORITY,
    ),
    (
        "weak sslmode",
        "cannot be checked",
        f"With 'sslrootcert' = '{SYSTEM}', set 'sslmode' to 'verify-full'.",
    ),
    (
        r"requires a valid client certificate|alert certificate required|peer did not return a certificate",
        "asks for a certificate of the client",
        "Set 'sslcert' and 'sslkey'.",
    ),
    (
        "certificate authentication failed",
        "does not take the certificate of 'sslcert' for this role",
        "The name in it (CN) is that of the role, unless the server's pg_ident.conf says otherwise.",
    ),
    (
        r"alert (unknown ca|bad certificate|certificate|decrypt error)",
        "does not trust the certificate of 'sslcert'",
        "Let it be signed by an authority of the server's ssl_ca_file.",
    ),
    ("certificate verify failed", "shows a certificate that is not trusted", _AUTHORITY),
    ("private key file|certificate file", "was not asked: 'sslcert' and 'sslkey' cannot be used", _OWN),
)

"""Files of tokens: who may ask a server, each in a line of its own."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import UsageError
from headwater.options import Secret
from headwater.sql.interpolate import resolve

SHORTEST = 16


def read_tokens(file: Path | None) -> dict[str, Secret]:
    """The tokens of a file by the name of who has them.

    A line is `NAME:TOKEN` or `TOKEN`; it may refer to `${env:NAME}`. Blank lines and those after # are left out.
    """
    if file is None:
        return {}
    found: dict[str, Secret] = {}
    for line in _lines(file):
        name, sign, token = line.partition(":") if not line.startswith("${") else ("", "", line)
        name, token = (name.strip(), token.strip()) if sign else ("token", line)
        meant = Secret(resolve({"token": token}, None)["token"])
        if len(meant.reveal()) < SHORTEST:
            raise UsageError(
                f"the token of '{name}' in {file} is too short",
                detail=f"It has fewer than {SHORTEST} characters.",
                hint="Make one: openssl rand -hex 32.",
            )
        if not is_sendable(meant.reveal()):
            raise UsageError(
                f"the token of '{name}' in {file} cannot be sent",
                detail="It has other signs in it than the printable ones of ASCII.",
                hint="Make one: openssl rand -hex 32.",
            )
        if name in found:
            raise UsageError(f"{file} has two tokens for '{name}'", hint="Write NAME:TOKEN in each line.")
        found[name] = meant
    if not found:
        raise UsageError(f"{file} has no token in it", hint="Write one: openssl rand -hex 32.")
    return found


def is_sendable(token: str) -> bool:
    """True if every client can put it into the header of a request, and all of them in the same bytes."""
    return token.isascii() and token.isprintable()


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read {file}", detail=f"{reason}.") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]

"""Which options are secret, and texts in which their values are not readable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from headwater.nearest import nearest
from headwater.options import Secret

MASK = "***"

_SECRET_WORDS = frozenset(
    {
        "password",
        "passwd",
        "passwort",
        "pass",
        "pwd",
        "pw",
        "passphrase",
        "secret",
        "secrets",
        "token",
        "tokens",
    }
    | {
        "credential",
        "credentials",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "jaas",
        "pem",
        "oauthbearer",
    }
)
_KEY_OWNERS = frozenset(
    {"api", "access", "secret", "private", "account", "encryption", "shared", "sas", "keystore", "signing"}
)
_NEARLY = ("password", "passphrase", "credentials")
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_REFERENCE = re.compile(r"(?:\$\{(?:env|file):[^}]*\})+")

# A name, perhaps in quotes, and a quoted value after it. Only a quoted name may lack the sign between them,
# and a value nobody closed reaches to the end.
_GAP = r"(?:\s|--[^\n]*|/\*[^*]*\*/)*"
_PAIR = re.compile(
    rf"""(?P<name>[A-Za-z][\w.\-]*)(?:['"`]{_GAP}(?:=>|=|:)*{_GAP}|{_GAP}(?:=>|=|:){_GAP})"""
    r"""(?:'(?P<single>(?:[^']+|'')*+)|"(?P<double>(?:[^"]+|"")*+))"""
)
_SET = re.compile(r"\bSET\s+(?P<name>[A-Za-z][\w.\-]*)\s*=\s*(?P<bare>[^'\"\s;][^;\n]*)", re.IGNORECASE)
_USER_INFO = re.compile(r"://[^\s:/@'\"]*:(?P<secret>[^\s@'\"]+)@")
_PARAMETER = re.compile(r"[?&;](?P<name>[A-Za-z][\w.\-]*)=(?P<secret>[^\s&;'\"]+)")


def looks_secret(name: str) -> bool:
    """True if an option of that name holds a secret, also when the name is slightly misspelt.

    >>> looks_secret("properties.ssl.key.password"), looks_secret("key.format")
    (True, False)
    """
    parts = [part.lower() for part in _PART.findall(name)]
    for before, part in zip(["", *parts], parts, strict=False):
        if part in _SECRET_WORDS or (part == "key" and before in _KEY_OWNERS):
            return True
        if nearest(part, _NEARLY, cutoff=0.8):
            return True
    return False


def kept(name: str, value: str) -> str:
    """A value as a statement keeps it: Secret if the option's name says so, unless it only refers to one."""
    if looks_secret(name) and not _REFERENCE.fullmatch(value):
        return Secret(value)
    return value


@overload
def masked(shown: str) -> str: ...


@overload
def masked(shown: Mapping[str, str]) -> dict[str, str]: ...


def masked(shown: str | Mapping[str, str]) -> str | dict[str, str]:
    """SQL text, or options, with each secret value as `***`; references such as `${env:NAME}` stay.

    >>> masked("WITH ('username' = 'ann', 'password' = 'x')")
    "WITH ('username' = 'ann', 'password' = '***')"
    """
    if not isinstance(shown, str):
        return {name: _masked_value(name, value) for name, value in shown.items()}
    pieces, done = [], 0
    for start, end in _secret_spans(shown):
        pieces += [shown[done:start], MASK]
        done = end
    return "".join(pieces) + shown[done:]


@dataclass(frozen=True)
class MaskedText:
    """A text of which parts are shown, each by where it stands in the text as it was written."""

    text: str

    def part(self, begin: int, end: int) -> str:
        """The text from `begin` to `end`, with `***` for each secret of which some is in it."""
        pieces, done = [], begin
        for start, stop in self._secrets:
            start, stop = max(start, begin), min(stop, end)
            if start < stop:
                pieces += [self.text[done:start], MASK]
                done = stop
        return "".join(pieces) + self.text[done:end]

    @cached_property
    def _secrets(self) -> list[tuple[int, int]]:
        return list(_secret_spans(self.text))


def _masked_value(name: str, value: str) -> str:
    if isinstance(kept(name, value), Secret) or isinstance(value, Secret):
        return MASK
    return masked(value)


def _secret_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets stand, from left to right, none inside another."""
    found: list[tuple[int, int]] = []
    for pattern in (_PAIR, _SET, _USER_INFO, _PARAMETER):
        for hit in _hits(pattern, text):
            group = str(hit.lastgroup)
            named = "name" not in pattern.groupindex or looks_secret(hit["name"])
            if named and hit[group] and not _REFERENCE.fullmatch(hit[group]):
                found.append(hit.span(group))
    done = 0
    for start, end in sorted(found):
        if start >= done:
            yield start, end
            done = end


def _hits(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    # A value may itself be the name of the next pair where a sign is missing, so the search goes on behind
    # the name and not behind the value.
    offset = 0
    while (hit := pattern.search(text, offset)) is not None:
        yield hit
        offset = hit.end("name") if "name" in pattern.groupindex else hit.end()

"""Integrations: named connections. What a table leaves empty ('') is filled from the one that is named beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from headwater.errors import UsageError
from headwater.server.records import Integration
from headwater.server.refusals import Conflict, missing
from headwater.server.scripts import pieces_of
from headwater.server.store import Store
from headwater.sql.fill import filled
from headwater.sql.secrets import MASK, looks_secret, masked

HOST, USER, SECRET = "host", "user", "secret"
"""What an integration may say in one word for all connectors."""

HOSTS = ("properties.bootstrap.servers", "hostname", "hosts", "url")
USERS = ("username", "user")


def find_integration(store: Store, named: str) -> Integration:
    """The integration of an id or a name."""
    found = store.find(Integration, id=named) or store.find(Integration, name=named)
    if found is None:
        raise missing("integration", named, [one.name for one in store.all(Integration)])
    return found


def add_integration(store: Store, name: str, options: Mapping[str, str]) -> Integration:
    """A new integration."""
    if not options:
        raise UsageError(
            f"integration '{name}' fills nothing",
            hint='Give it "host", "user", "secret", or "options" by the names they have in SQL.',
        )
    if store.find(Integration, name=name) is not None:
        raise Conflict(f"there is an integration '{name}' already", hint="Remove it, or take another name.")
    return store.add(Integration(name, options))


def value_in(integration: Integration, option: str) -> str | None:
    """What an integration knows for an option: by its own name, else by what kind of thing it is."""
    known = integration.options
    if option in known:
        return known[option]
    if option in HOSTS:
        return known.get(HOST)
    if option in USERS:
        return known.get(USER)
    return known.get(SECRET) if looks_secret(option) else None


def whole_script(body: Mapping[str, Any], store: Store) -> str:
    """The script of a version with all that its integrations fill; secrets are in it."""
    pieces = []
    for text, named in pieces_of(body):
        if named is not None:
            integration = find_integration(store, named)
            text = filled(text, partial(value_in, integration))
        pieces.append(text)
    return "\n\n".join(pieces)


def secrets_of(integration: Integration) -> list[str]:
    """The values that nobody may see."""
    return [value for name, value in integration.options.items() if value and is_secret(name)]


def without_secrets(text: str, integration: Integration) -> str:
    """A text with stars for an integration's secrets, also as JSON spells them; parts of longer words stay."""
    for secret in secrets_of(integration):
        for spelt in {secret, json.dumps(secret)[1:-1]}:
            text = re.sub(rf"(?<!\w){re.escape(spelt)}(?!\w)", MASK, text)
    return text


def is_secret(name: str) -> bool:
    """True for what an integration never shows."""
    return name == SECRET or looks_secret(name)


def shown_options(integration: Integration) -> dict[str, str]:
    """What an integration fills, with stars for what is secret."""
    return {
        name: MASK if is_secret(name) and not _refers(value) else masked(value)
        for name, value in integration.options.items()
    }


def _refers(value: str) -> bool:
    return value.startswith("${") and value.endswith("}")

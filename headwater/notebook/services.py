"""`%headwater services`: real services on this machine, and where they are, for the cells that follow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.errors import UsageError
from headwater.notebook.page import Word, bundle, table_html
from headwater.notebook.plain import table_text
from headwater.services.cast import CAST, Ports, Seen, bring_up, look, take_down
from headwater.services.ports import HOST

COLUMNS = ("service", "state", "address", "user", "password", "database")


@dataclass(frozen=True)
class Services(Mapping[str, Mapping[str, Any]]):
    """Services by name; each has its host, port, user, password and database: `services["mysql"]["port"]`."""

    seen: tuple[Seen, ...]

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        found = next((service for service in self.seen if service.name == name), None)
        if found is None:
            raise KeyError(name)
        return {"host": HOST, "port": found.port, **CAST[name].login}

    def __iter__(self) -> Iterator[str]:
        return iter(service.name for service in self.seen)

    def __len__(self) -> int:
        return len(self.seen)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """How a notebook shows it."""
        right = [False] * len(COLUMNS)
        rows = [
            [s.name, Word(s.state), s.address, *(CAST[s.name].login.get(k, "") for k in COLUMNS[3:])]
            for s in self.seen
        ]
        return bundle([table_html(COLUMNS, rows, right)], [table_text(COLUMNS, rows, right)])


def services_word(given: argparse.Namespace) -> Services:
    """Start, stop or look; what is up then."""
    folder: Path = given.folder
    match given.what:
        case "up":
            if not given.names:
                raise UsageError("no service is named", hint=f"The services are {', '.join(CAST)}.")
            wanted = bring_up(
                given.names,
                folder,
                ports=Ports(given.ports),
                report=lambda name, done, total: _say(f"fetching {name} ...") if done == 0 else None,
                starting=lambda name: _say(f"starting {name} ..."),
            )
            return Services(tuple(seen for seen in look(folder) if seen.name in wanted))
        case "down":
            take_down(given.names, folder, stopping=lambda name: _say(f"stopping {name} ..."))
    return Services(tuple(look(folder)))


def _say(text: str) -> None:
    print(text, file=sys.stdout, flush=True)

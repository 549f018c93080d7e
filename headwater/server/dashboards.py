"""Dashboards: charts of views, each dashboard a file of JSON that can be kept in git and put back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from headwater.errors import StateError, UsageError
from headwater.server.applications import NAME
from headwater.server.bodies import Body
from headwater.server.refusals import Conflict, Unwritten, missing
from headwater.server.server import Server

FOLDER = "dashboards"

NOTHING = '"nothing"'
"""The mark of a dashboard that is not there."""

Text = Annotated[str, Field(max_length=200)]


class Chart(Body):
    """One chart: a view, how it is drawn, and which of its columns."""

    view: Text = Field(description="application.view")
    kind: Literal["table", "bar", "line", "area", "pie", "number"] = "bar"
    x: Text = Field(default="", description="the column of names")
    y: Text = Field(default="", description="the column of values")
    title: Text = ""
    width: int = Field(default=1, ge=1, le=2, description="in columns of the grid")


class Dashboard(Body):
    """Charts on a grid, in order."""

    title: Text = ""
    charts: list[Chart] = Field(default=[], max_length=100)


@dataclass(frozen=True)
class Kept:
    """A dashboard as its file has it."""

    dashboard: Dashboard
    mark: str
    """Another one after each change of the file, whoever makes it."""


def all_dashboards(server: Server) -> dict[str, Dashboard | StateError]:
    """Every dashboard by name, or what is wrong with its file: one that cannot be read hides no other."""
    return {name: _dashboard_or_problem(server, name) for name in _names(server)}


def find_dashboard(server: Server, name: str) -> Kept:
    """The dashboard of a name."""
    file = _file(server, name)
    if not file.exists():
        raise missing("dashboard", name, _names(server))
    return _read(file)


def save_dashboard(server: Server, name: str, dashboard: Dashboard, seen: str | None = None) -> Kept:
    """Keep a dashboard, in the place of one of the same name; of the one that was seen, if its mark is given."""
    file = _file(server, name)
    partial = file.with_suffix(".partial")
    text = (json.dumps(dashboard.model_dump(), indent=2, ensure_ascii=False) + "\n").encode()
    with server.changing(), _writing(file):
        if seen is not None and seen != _mark_of(file):
            raise Conflict(
                f"dashboard '{name}' was changed meanwhile",
                detail="Somebody else has saved or removed it, or its file was replaced.",
                hint="Look at it as it is now, and change it again.",
            )
        file.parent.mkdir(exist_ok=True, mode=0o700)
        partial.write_bytes(text)
        os.replace(partial, file)
    return Kept(dashboard, _mark(text))


def remove_dashboard(server: Server, name: str) -> None:
    """Forget a dashboard, also one whose file cannot be read."""
    with server.changing():
        file = _file(server, name)
        if not file.exists():
            raise missing("dashboard", name, _names(server))
        with _writing(file):
            file.unlink()


def _names(server: Server) -> list[str]:
    files = (server.folder / FOLDER).glob("*.json")
    return sorted(file.stem for file in files if NAME.fullmatch(file.stem))


def _dashboard_or_problem(server: Server, name: str) -> Dashboard | StateError:
    try:
        return find_dashboard(server, name).dashboard
    except StateError as problem:
        return problem


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise Unwritten(
            f'the dashboard in "{file.name}" cannot be written',
            detail=f"{problem.strerror or problem}.",
            hint="Is the disk full, and may the server's folder be written to? Try again.",
        ) from None


def _file(server: Server, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' cannot be the name of a dashboard",
            hint="Its file is called so: letters, digits, _, - and ., 100 at most.",
        )
    return server.folder / FOLDER / f"{name}.json"


def _mark_of(file: Path) -> str:
    """The mark of what is in a file now; that of nothing if there is none."""
    return _mark(file.read_bytes()) if file.exists() else NOTHING


def _mark(text: bytes) -> str:
    return f'"{hashlib.sha256(text).hexdigest()[:16]}"'


def _read(file: Path) -> Kept:
    try:
        text = file.read_bytes()
        return Kept(Dashboard.model_validate_json(text), _mark(text))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except OSError as problem:
        reason = f"{problem.strerror or problem}."
    raise StateError(
        f'the dashboard in "{file.name}" cannot be read', detail=reason, hint="Mend the file, or remove it."
    )

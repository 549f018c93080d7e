"""Dashboards: charts of views, each dashboard a file of JSON that can be kept in git and put back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from headwater.errors import StateError, UsageError
from headwater.server.applications import NAME
from headwater.server.bodies import Body
from headwater.server.refusals import Unwritten, missing
from headwater.server.server import Server

FOLDER = "dashboards"

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


def all_dashboards(server: Server) -> dict[str, Dashboard]:
    """Every dashboard by name."""
    files = sorted((server.folder / FOLDER).glob("*.json"))
    return {file.stem: _read(file) for file in files if NAME.fullmatch(file.stem)}


def find_dashboard(server: Server, name: str) -> Dashboard:
    """The dashboard of a name."""
    file = _file(server, name)
    if not file.exists():
        raise missing("dashboard", name, list(all_dashboards(server)))
    return _read(file)


def save_dashboard(server: Server, name: str, dashboard: Dashboard) -> None:
    """Keep a dashboard, in the place of one of the same name."""
    file = _file(server, name)
    partial = file.with_suffix(".partial")
    text = json.dumps(dashboard.model_dump(), indent=2, ensure_ascii=False) + "\n"
    with server.changing(), _writing(file):
        file.parent.mkdir(exist_ok=True, mode=0o700)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, file)


def remove_dashboard(server: Server, name: str) -> None:
    """Forget a dashboard."""
    with server.changing():
        find_dashboard(server, name)
        file = _file(server, name)
        with _writing(file):
            file.unlink()


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


def _read(file: Path) -> Dashboard:
    try:
        return Dashboard.model_validate_json(file.read_bytes())
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except OSError as problem:
        reason = f"{problem.strerror or problem}."
    raise StateError(
        f'the dashboard in "{file.name}" cannot be read', detail=reason, hint="Mend the file, or remove it."
    )

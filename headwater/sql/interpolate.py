"""References in option values: `${env:NAME}` and `${file:path}`, resolved for use and masked for show."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from headwater.errors import OptionError, Place
from headwater.nearest import nearest
from headwater.options import Secret
from headwater.sql.secrets import masked

__all__ = ["masked", "referred", "resolve"]

_OPENING = re.compile(r"\$\{(?:(?P<kind>\w+):)?(?P<name>[^{}]*)(?P<close>\}?)")


def resolve(
    options: Mapping[str, str], place: Place | None, *, places: Mapping[str, Place] | None = None
) -> dict[str, str]:
    """The options with every reference replaced by what it stands for, as a Secret.

    `places` says where single options stand; `place` serves for the others.

    >>> resolve({"port": "${env:PGPORT}"}, None)
    {'port': '***'}
    """
    known = places or {}
    return {name: _resolved(name, value, known.get(name, place)) for name, value in options.items()}


def referred(options: Mapping[str, str]) -> Iterator[str]:
    """The texts that the references in some options stand for, one by one; their options were resolved before."""
    for name, value in options.items():
        plain = value.reveal() if isinstance(value, Secret) else value
        for found in _OPENING.finditer(plain):
            yield _meant(found, name, None)


def _resolved(name: str, value: str, place: Place | None) -> str:
    plain = value.reveal() if isinstance(value, Secret) else value
    if "${" not in plain:
        return value
    # A function as the replacement: what it gives is taken as it is, backslashes too.
    return Secret(_OPENING.sub(lambda found: _meant(found, name, place), plain))


def _meant(found: re.Match[str], name: str, place: Place | None) -> str:
    kind, subject = found["kind"], found["name"]
    if not found["close"] or not subject:
        raise OptionError(
            f"a reference in option '{name}' is not complete",
            hint="Write ${env:NAME} or ${file:path}.",
            place=place,
        )
    match kind:
        case "env":
            return _from_environment(subject, name, place)
        case "file":
            return _from_file(subject, name, place)
    raise OptionError(
        f"option '{name}' refers to something unknown",
        detail=f"The reference is ${{{f'{kind}:' if kind else ''}{subject}}}.",
        hint=f"Write ${{env:{subject}}} for an environment variable or ${{file:path}} for a file.",
        place=place,
    )


def _from_environment(variable: str, name: str, place: Place | None) -> str:
    if variable in os.environ:
        return os.environ[variable]
    near = nearest(variable, os.environ, cutoff=0.8)
    raise OptionError(
        f"option '{name}' refers to the environment variable {variable}, which is not set",
        hint=f"Did you mean {near}?" if near else f"Set it before the start: export {variable}=...",
        place=place,
    )


def _from_file(path: str, name: str, place: Place | None) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError, RuntimeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise OptionError(
            f"option '{name}' refers to the file {path}, which cannot be read",
            detail=f"{str(reason).capitalize()}.",
            hint="Give the path from the folder in which headwater is started, or from the root.",
            place=place,
        ) from problem

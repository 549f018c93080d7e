"""Programs that tests start and that are not ours, from Debian's packages, fetched once."""

from __future__ import annotations

from pathlib import Path

from headwater.services.artifacts import fetch
from headwater.services.debian import library_folders

PROGRAMS = ("tmux", "jq", "chromium", "postgres-15")
"""All of them: a test in the middle of its work does not wait for a download."""


def programs_in(folder: Path, *names: str) -> Path:
    """The folder, with a script in it for each program, to be put into PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        tree = fetch(name)
        libraries = ":".join(map(str, library_folders(tree)))
        script = folder / name
        loader = f'LD_LIBRARY_PATH="{libraries}" ' if libraries else ""
        script.write_text(f'#!/bin/sh\n{loader}exec "{tree}/usr/bin/{name}" "$@"\n')
        script.chmod(0o755)
    return folder


if __name__ == "__main__":
    for program in PROGRAMS:
        print(f"{program} is in {fetch(program)}")

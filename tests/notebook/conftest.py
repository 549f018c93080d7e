"""Shells of IPython, and folders for notebooks."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from headwater.services.cast import take_down
from tests.notebook.shell import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A new shell in a folder of its own; what runs in it is stopped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    # Nobody ends this process by force: a slow step may take its time.
    monkeypatch.setattr("headwater.notebook.runs.LAST_SECONDS", 60.0)
    InteractiveShell.clear_instance()
    made = Shell()
    yield made
    made.notebook.close()
    InteractiveShell.clear_instance()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in which nothing runs afterwards.

    It is right below the system's temporary folder: servers of root run as another user, who has to walk there.
    """
    made = Path(tempfile.mkdtemp(prefix="headwater-notebook-"))
    made.chmod(0o755)
    yield made
    take_down([], made / ".headwater" / "services")
    shutil.rmtree(made)

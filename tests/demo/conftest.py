"""Folders for databases."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder_of_its_own() -> Iterator[Path]:
    """A folder that another test run cannot close: pytest's own are shut to other users whenever one starts.

    Postgres refuses root, so that a test run by root needs folders that another user may enter.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        yield Path(folder)

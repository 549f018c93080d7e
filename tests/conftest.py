"""What all tests share: the option that rewrites golden files."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` (make update) rewrites what stories and golden files expect, for a person to read."""
    parser.addoption("--update", action="store_true", help="rewrite golden files with what came out")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stories start Spark."""
    for item in items:
        if "tests/stories" in item.path.as_posix():
            item.add_marker(pytest.mark.jvm)

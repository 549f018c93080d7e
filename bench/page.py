"""Tables of benchmarks, written into `docs/benchmarks.md` and other pages by the benchmarks themselves."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def keep(name: str, command: str, table: str, *, on: Path | None = None, where: str = "") -> None:
    """Put a table in its place on a page, with the command that made it and where it ran: here, unless told."""
    page = on or PAGE
    made = f"<!-- {name} -->\n`{command}`, {where or machine()}:\n\n{table}\n<!-- end of {name} -->"
    text = page.read_text()
    place = re.compile(rf"<!-- {re.escape(name)} -->.*?<!-- end of {re.escape(name)} -->", re.DOTALL)
    assert place.search(text), f"{page.name} has no place for {name}"
    page.write_text(place.sub(lambda _: made, text))


def machine() -> str:
    """Where and when something was measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    spark = version("pyspark")
    day = datetime.now(UTC).date().isoformat()
    return f"{day}, {os.cpu_count()} cores, {memory:.0f} GB, Spark {spark}"

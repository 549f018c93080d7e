"""Where a run is kept: on the page, as a plot and as JSON beside it; a quick look only as JSON in the cache."""

from __future__ import annotations

import os
from pathlib import Path

from bench import page
from bench.plots import plotted
from bench.report import told
from bench.results import Run, written
from headwater.services.java import cache_folder


def keep(workload: str, run: Run) -> None:
    """Write the page's part of a workload, its plot and its raw figures."""
    docs = page.PAGE.parent
    (docs / "benchmarks").mkdir(exist_ok=True)
    (docs / "benchmarks" / f"{workload}.json").write_text(written(run))
    (docs / "images" / f"bench-{workload}.svg").write_text(plotted(run, workload))
    plot, raw = f"images/bench-{workload}.svg", f"benchmarks/{workload}.json"
    links = f"![{workload}]({plot})\n\nRaw figures: [{raw}]({raw})"
    page.keep(workload, run.command, f"{told(run)}\n\n{links}")


def sketch(workload: str, run: Run) -> Path:
    """Write the raw figures of a quick look; the file."""
    path = cache_folder(os.environ) / "bench" / f"{workload}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(run))
    return path

"""Named points on the way of a change, at which a process can be made to die, or that are timed.

    echo "sink written 3" > next; HEADWATER_FAULTS=next headwater run ...
    HEADWATER_TRACE=trace headwater run ...

Who comes by the point of the first file for the third time dies as of kill -9. That file is gone by then: it kills
once. The second file gets a line whenever somebody comes by a point: the seconds since 1970, and its name. Without the
variables a point is a look at two names that are None.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

POINTS = (
    "log received",  # whole transactions are here, in memory
    "log written",  # files of an append are synced, the log does not name them yet
    "log appended",  # transactions are durable here, the server has not heard of it
    "log confirmed",  # the server has heard of it
    "batch read",  # the changes of a batch were read from our log
    "spark asked",  # a statement of the batch goes to Spark
    "spark answered",  # its answer is here
    "batch planned",  # a batch is computed and its end written down, no sink has it
    "sink written",  # a sink has the batch, our progress does not say so
    "progress saved",  # the batch is done, the sources may not forget it yet
    "runs merged",  # State has fewer files, those before are still there
)
"""All of them, in the order in which a change comes by."""

_FILE = os.environ.get("HEADWATER_FAULTS")
_TRACE = os.environ.get("HEADWATER_TRACE")


def pass_by(point: str) -> None:
    """Come by a point, and die if this is asked for."""
    if _TRACE is not None:
        _note(Path(_TRACE), point)
    if _FILE is not None:
        _look(Path(_FILE), point)


def _note(trace: Path, point: str) -> None:
    assert point in POINTS, point
    # Short lines that are appended at once stay whole, though several processes write them.
    with trace.open("a") as file:
        file.write(f"{time.time():.6f} {point}\n")


def _look(asked: Path, point: str) -> None:
    assert point in POINTS, point
    try:
        name, _, count = asked.read_text().strip().rpartition(" ")
    except FileNotFoundError:
        return
    if name != point:
        return
    if int(count) > 1:
        asked.write_text(f"{name} {int(count) - 1}")
        return
    asked.unlink()
    os.kill(os.getpid(), signal.SIGKILL)

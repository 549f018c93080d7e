"""Standard error while Spark starts in several threads. Oracle: the file that it is before and after."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from headwater.services.java import stderr_to

SECONDS = 120.0


def test_standard_error_is_given_back_to_whom_it_was_taken_from(tmp_path: Path) -> None:
    before = os.fstat(2)
    inside, waits = threading.Event(), threading.Event()

    def first() -> None:
        with stderr_to(tmp_path / "first.log"):
            inside.set()
            waits.wait(0.5)

    def second() -> None:
        inside.wait(SECONDS)
        with stderr_to(tmp_path / "second.log"):
            waits.set()
            one.join(SECONDS)

    one, two = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    two.start()
    two.join(SECONDS)
    after = os.fstat(2)
    assert (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino)

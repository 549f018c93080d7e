"""Who keeps a capture running.

Oracle: whoever waits for a capture hears the reason if none can be had; nobody waits for ever.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.errors import SourceError
from headwater.sources.captured.supervisor import Launch, Supervisor

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def test_a_capture_that_cannot_be_started_again_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dies.py").write_text(DIES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = tmp_path / "log"

    def line(_: bool) -> str:
        # From now on nothing can be written there.
        shutil.rmtree(folder)
        folder.touch()
        return "{}"

    supervisor = Supervisor(Launch("dies", folder, line, "a database"))
    try:
        while not supervisor.over:
            assert supervisor.wait(supervisor.heard, 120.0) or supervisor.over
        with pytest.raises(SourceError, match="the capture cannot be started"):
            supervisor.check()
    finally:
        supervisor.stop()

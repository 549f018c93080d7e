"""A terminal that somebody sits at: a pane of tmux, of which nobody's settings are read."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.stage.programs import programs_in

SECONDS = 180.0
"""How long somebody waits for something to appear; Spark has to start on a busy machine."""

_NUMBERS = itertools.count()


class Terminal:
    """A pane in which one command runs; when it ends, its exit code stands there."""

    def __init__(self, folder: Path, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self._tmux = str(programs_in(folder / "programs", "tmux") / "tmux")
        # A socket of its own for each: the one before may still be about to go.
        self._socket = str(folder / f"socket-{next(_NUMBERS)}")
        given = " ".join(f"{name}={shlex.quote(value)}" for name, value in environ.items())
        line = f"{given} {shlex.join(command)}; echo exit code $?; exec cat"
        self._do("new-session", "-d", "-x", "100", "-y", "30", "-c", str(folder), line)

    def type(self, text: str) -> None:
        """Type a text, letter by letter."""
        for letter in text:
            # At the end of a word of its own tmux would take a semicolon for the end of a command.
            self._do("send-keys", "-H", *(f"{byte:x}" for byte in letter.encode()))

    def enter(self, text: str) -> None:
        """Type a text and press Enter."""
        self._do("send-keys", "-H", *(f"{byte:x}" for byte in text.encode()))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        self._do("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        """Make the window smaller or larger."""
        self._do("resize-window", "-x", str(width), "-y", str(height))

    def screen(self, *, colours: bool = False) -> str:
        """What can be seen, without blanks at the end of lines."""
        return self._do("capture-pane", "-p", *(["-e"] if colours else []))

    def sees(self, pattern: str) -> re.Match[str]:
        """Wait until something appears."""
        return self.waits(lambda: re.search(pattern, self.screen(), re.MULTILINE), pattern)

    def waits(self, seen: Callable[[], re.Match[str] | None], what: str) -> re.Match[str]:
        """Wait until something is found."""
        deadline = time.monotonic() + SECONDS
        while (found := seen()) is None:
            assert time.monotonic() < deadline, f"{what} is not seen:\n{self.screen()}"
            time.sleep(0.05)
        return found

    def close(self) -> None:
        """Close the window, and with it what runs in it."""
        self._do("kill-server")

    def _do(self, *words: str) -> str:
        command = [self._tmux, "-S", self._socket, "-f", "/dev/null", *words]
        environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "HOME": "/"}
        done = subprocess.run(command, capture_output=True, text=True, env=environ)
        assert done.returncode == 0, done.stderr
        return done.stdout

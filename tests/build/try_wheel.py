"""Install the wheel into a new environment in an empty folder and run it there: `try_wheel.py DIST LOCK`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def try_wheel(dist: Path, lock: Path) -> None:
    """Fail if the installed program does not tell its version, or cannot run the demo."""
    (wheel,) = dist.glob("headwater-*.whl")
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as empty:
        environment = Path(empty) / "environment"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(lock), str(wheel)]
        subprocess.run(install, check=True)
        said = run(environment / "bin" / "headwater", "--version", cwd=empty)
        assert said == f"headwater {version}\n", said
        assert "COMMAND" in run(environment / "bin" / "headwater", "--help", cwd=empty)
        shown = run(environment / "bin" / "headwater", "demo", "claims", "--for", "3s", "--plain", cwd=empty)
        assert "+ accident_detail=" in shown, shown
    print(f"{wheel.name} runs the demo in an empty folder")


def run(program: Path, *arguments: str, cwd: str) -> str:
    """What a program says on standard output."""
    done = subprocess.run([program, *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    try_wheel(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())

"""A server as people start it: the life cycle of the docs, and a crash with ten pipelines.

Oracle: for the docs, the file that the application writes, added up by hand; for the crash, the numbers 1, 2, 3 and so
on that each pipeline must have written, each once, whatever happened.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.serving import Served
from tests.server.waiting import until
from tests.stage.programs import programs_in

pytestmark = pytest.mark.jvm

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
PIPELINES = 10

NUMBERS = """
CREATE TABLE numbers (id BIGINT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '20', 'fields.id.kind' = 'sequence'
);
CREATE TABLE seen (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv');
INSERT INTO seen SELECT id FROM numbers;
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("served") / "server")
    yield served
    served.kill()


def test_the_life_cycle_of_the_docs_runs(served: Served, tmp_path: Path) -> None:
    served.start()
    script = re.findall(r"```bash\n(set -euo.*?)```", PAGE.read_text(), re.DOTALL)[0]
    programs = programs_in(tmp_path / "programs", "jq")
    path = f"{Path(sys.executable).parent}:{programs}:{os.environ['PATH']}"
    env = os.environ | {"HEADWATER_SERVER": served.url, "PATH": path}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=env, text=True, capture_output=True, timeout=280
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '"FINISHED"' in ran.stdout.splitlines()
    assert "not without --yes" in ran.stdout and "computed anew: pieces" in ran.stderr
    assert "'pizza-orders' version 1 is CANCELED" in ran.stdout
    # The server stood in another folder when it wrote: relative paths begin where it was started.
    sold = (served.folder.parent / "sold.json").read_text().splitlines()
    assert {json.loads(line)["pizza"] for line in sold} == set(range(1, 10))


def test_after_a_crash_ten_pipelines_go_on_and_nothing_comes_twice(served: Served, tmp_path: Path) -> None:
    served.start()
    files = {f"numbers-{n}": tmp_path / f"seen-{n}.csv" for n in range(PIPELINES)}
    for name, file in files.items():
        served.ask("POST", "/applications", {"name": name})
        served.ask("POST", f"/applications/{name}/versions", {"statement": NUMBERS.format(path=file)})
        served.ask("POST", f"/applications/{name}/deployments", {"version_id": "1"})
    before = {name: until(lambda file=file: lines(file), bool) for name, file in files.items()}  # type: ignore[misc]  # bound now
    served.kill()
    served.start()
    for name, file in files.items():
        until(lambda file=file: lines(file), lambda now, then=before[name]: len(now) > len(then))  # type: ignore[misc]  # bound now
    assert [served.wait_for(name, "RUNNING")["runs"] for name in files] == [2] * PIPELINES
    assert served.stop() == 143
    for file in files.values():
        seen = lines(file)
        assert seen == [str(number) for number in range(1, len(seen) + 1)]


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []

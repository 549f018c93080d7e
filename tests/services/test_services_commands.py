"""`headwater services` from end to end. Oracle: the processes and ports that are there, and the exit codes."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psycopg2
import pytest
import urllib3

from headwater.cli import services
from headwater.cli.main import main
from headwater.cli.parser_services import NAMES
from headwater.services import artifacts
from headwater.services.cast import (
    CAST,
    Ports,
    packages_of,
    port_for,
    take_down,
    with_dependents,
    with_needs,
)
from headwater.services.ports import free_port
from headwater.services.running import running_pid, wait_for

Capture = pytest.CaptureFixture[str]

FREE = -1
"""Stands for a port that is free when the test runs."""

HOUSE = str(Path(__file__).parent.parent.parent)


def headwater(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Type a command about the services of a folder."""
    return subprocess.run(
        [sys.executable, "-m", "headwater", "services", *arguments, "--folder", str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": HOUSE},
    )


def rows(said: str) -> dict[str, list[str]]:
    """The cells of a printed table, by the first of each line."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines() if "|" in line]
    return {cells[0]: cells[1:] for cells in lines if cells[0] in NAMES}


def test_what_can_be_typed_is_what_there_is() -> None:
    assert tuple(CAST) == NAMES


def test_who_needs_another_starts_after_it_and_stops_before_it() -> None:
    assert with_needs(["connect", "postgres"]) == ["kafka", "connect", "postgres"]
    assert with_dependents(["kafka", "mysql"]) == ["mysql", "connect", "kafka"]


def test_packages_of_a_service_are_its_own_and_those_of_whom_it_needs() -> None:
    plugins = ("debezium-postgres", "debezium-mysql", "debezium-mariadb")
    assert packages_of(["connect"]) == ("kafka", *plugins)
    assert packages_of(["postgres"]) == ()
    everything = {path.stem for path in Path(artifacts.__file__).parent.glob("locks/*.txt")} | {"mariadb"}
    assert set(packages_of([])) == everything


def test_fetch_says_where_packages_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(services, "fetch", lambda package, report: tmp_path / package)
    assert main(["services", "fetch", "mysql", "kafka"]) == 0
    assert capsys.readouterr().out == f"kafka is in {tmp_path / 'kafka'}\nmysql is in {tmp_path / 'mysql'}\n"
    assert main(["services", "fetch", "zookeeper"]) == 2
    assert "there is no service 'zookeeper'" in capsys.readouterr().err


def test_no_two_have_the_same_usual_port() -> None:
    ports = [role.port for role in CAST.values()]
    assert ports == [9092, 8083, 9200, 5432, 3306, 3307]


@pytest.mark.services
@pytest.mark.timeout(1200)
def test_up_status_logs_down(tmp_path: Path) -> None:
    folder = tmp_path / "services"
    try:
        up = headwater("up", "connect", "postgres", "--ports", "auto", folder=folder)
        assert up.returncode == 0, up.stderr
        found = rows(up.stdout)
        assert list(found) == ["kafka", "connect", "postgres"]
        assert urllib3.request("GET", f"{found['connect'][0]}/connectors").json() == []
        host, port = found["postgres"][0].split(":")
        user, password, database = found["postgres"][1:]
        connection = psycopg2.connect(host=host, port=port, user=user, password=password, dbname=database)
        connection.close()

        status = headwater("status", folder=folder)
        assert status.returncode == 0
        assert [cells[0] for cells in rows(status.stdout).values()] == ["up"] * 3
        assert all(re.fullmatch(r"\d+ MB", cells[3]) for cells in rows(status.stdout).values())

        again = headwater("up", "postgres", folder=folder)
        assert again.returncode == 0 and rows(again.stdout)["postgres"] == found["postgres"]
        assert "ready to accept connections" in headwater("logs", "postgres", folder=folder).stdout

        pid = running_pid(folder / "kafka")
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert wait_for(lambda: running_pid(folder / "kafka") is None, 60)
        crashed = headwater("status", folder=folder)
        assert crashed.returncode == 1 and rows(crashed.stdout)["kafka"][0] == "crashed"

        # Nobody said auto again: what was written down of the broker goes on being true.
        revived = headwater("up", "kafka", folder=folder)
        assert revived.returncode == 0 and rows(revived.stdout)["kafka"] == found["kafka"], revived.stderr

        down = headwater("down", folder=folder)
        assert down.returncode == 0
        assert down.stdout == "stopping postgres ...\nstopping connect ...\nstopping kafka ...\n"
        assert "nothing runs" in headwater("status", folder=folder).stdout
    finally:
        take_down([], folder)


@pytest.mark.parametrize(
    ("noted", "ports", "chosen"),
    [
        (None, Ports.KEPT, 9092),
        (9092, Ports.KEPT, 9092),
        (FREE, Ports.KEPT, FREE),
        (FREE, Ports.USUAL, 9092),
        (FREE, Ports.AUTO, FREE),
        (None, Ports.AUTO, None),
    ],
    ids=["never up", "usual", "kept", "usual by choice", "kept by choice", "any free one"],
)
def test_a_service_comes_back_where_it_was(
    noted: int | None, ports: Ports, chosen: int | None, tmp_path: Path
) -> None:
    (tmp_path / "kafka").mkdir()
    free = free_port()
    noted, chosen = (free if port == FREE else port for port in (noted, chosen))
    if noted is not None:
        (tmp_path / "kafka" / "port").write_text(str(noted))
    assert port_for("kafka", tmp_path, ports) == chosen


def test_a_port_that_another_has_taken_since_is_left_to_it(tmp_path: Path) -> None:
    (tmp_path / "kafka").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (tmp_path / "kafka" / "port").write_text(str(taken.getsockname()[1]))
        assert port_for("kafka", tmp_path, Ports.KEPT) is None


@pytest.mark.services
def test_a_port_that_is_taken_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", CAST["mariadb"].port))
        taken.listen()
        said = headwater("up", "mariadb", folder=tmp_path)
    assert said.returncode == 1
    assert "error: port 3307 is in use" in said.stderr and "mariadb" in said.stderr
    assert "--ports auto" in said.stderr
    assert not (tmp_path / "mariadb").exists()


def test_logs_follow_a_service_over_its_restart(tmp_path: Path) -> None:
    log = tmp_path / "kafka" / "server.log"
    log.parent.mkdir()
    log.write_text("first — start\n")
    command = [
        sys.executable,
        "-m",
        "headwater",
        "services",
        "logs",
        "kafka",
        "-f",
        "--folder",
        str(tmp_path),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": HOUSE}
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "first — start\n"
        with log.open("a") as more:
            more.write("more\n")
        assert reader.stdout.readline() == "more\n"
        log.write_text("second\n")
        assert reader.stdout.readline() == "second\n"
        reader.send_signal(signal.SIGINT)
        assert reader.wait(60) == 130


def test_the_page_tells_every_service_and_its_port() -> None:
    page = (Path(HOUSE) / "docs" / "services.md").read_text()
    told = re.findall(r"^\| `(\w+)` \|[^|]+\| (\d+) \|", page, re.MULTILINE)
    assert told == [(name, str(role.port)) for name, role in CAST.items()]


def test_a_service_nobody_knows_is_a_wrong_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["services", "down", "kafkaa", "--folder", str(tmp_path)]) == 2
    assert "there is no service 'kafkaa'" in capsys.readouterr().err


def test_where_nothing_ran_nothing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (["--folder", str(tmp_path)], []):
        monkeypatch.chdir(tmp_path)
        assert main(["services", "down", *folder]) == 0
        assert main(["services", "status", *folder]) == 0
        shown = folder[1] if folder else Path(".headwater", "services")
        assert capsys.readouterr().out == f"nothing runs in {shown}\n" * 2
        assert main(["services", "down", "mysql", "kafka", *folder]) == 0
        assert capsys.readouterr().out == f"mysql is not up in {shown}\nkafka is not up in {shown}\n"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "none"
    for command in ("down", "status"):
        assert main(["services", command, "--folder", str(folder)]) == 1
        assert f"error: there is no folder {folder}" in capsys.readouterr().err
    assert main(["services", "logs", "kafka", "--folder", str(folder)]) == 1
    assert "kafka has no log" in capsys.readouterr().err
    assert not folder.exists()

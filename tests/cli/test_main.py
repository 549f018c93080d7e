"""The command line: parsing, exit codes, what is printed. Oracle: written by hand."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from headwater import __version__
from headwater.cli import main as program
from headwater.cli.parser import build_parser
from headwater.cli.parser_demo import duration
from headwater.cli.stop import Stop, Stopped
from headwater.errors import HeadwaterError, UsageError

SLOW = ("pyspark", "psycopg2", "pyarrow", "sqlglot", "rich")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["demo", "claims", "--help"]])
def test_help_answers_without_loading_anything_slow(arguments: list[str]) -> None:
    code = f"""
import sys
from headwater.cli.main import main
try:
    main({arguments!r})
finally:
    print("loaded", [name for name in {SLOW!r} if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.rstrip().endswith("loaded []")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"headwater {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["run"],
        ["verify"],
        ["drop"],
        ["demo"],
        ["demo", "psql", "pizza"],
        ["demo", "claims", "--for", "soon"],
        ["sql", "--format", "xml"],
    ],
)
def test_a_wrong_command_line_exits_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (HeadwaterError("it broke", hint="Mend it."), 1, "error: it broke\nhint: Mend it.\n"),
        (UsageError("not so"), 2, "error: not so\n"),
        (KeyboardInterrupt(), 130, ""),
        (Stopped(signal.SIGINT), 130, ""),
        (Stopped(signal.SIGTERM), 143, ""),
    ],
)
def test_what_is_raised_becomes_an_exit_code(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(given: object) -> int:
        raise raised

    monkeypatch.setattr(program, "dispatch", fail)
    assert program.main(["run", "a.sql"]) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("3", 3), ("0.5s", 0.5)]
)
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


def test_the_demo_takes_what_the_makefile_hands_on() -> None:
    given = build_parser().parse_args(["demo", "claims", "--for", "60s", "--plain"])
    assert (given.seconds, given.plain, given.fresh) == (60.0, True, False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_at_once_before_the_loop_and_gently_inside_it(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Stop() as stop:
        with pytest.raises(Stopped):
            signal.raise_signal(number)
        stop.gently()
        signal.raise_signal(number)
        assert stop.asked == number
        with pytest.raises(Stopped):
            signal.raise_signal(number)
        with pytest.raises(Stopped):
            stop.end()
        stop.closing()
        signal.raise_signal(number)
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("module", ["headwater.cli.demo", "headwater.cli.parser", "headwater.cli.view"])
def test_what_needs_no_spark_does_not_load_it(module: str) -> None:
    code = f"import sys, {module}; print('pyspark' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"

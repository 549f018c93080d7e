"""What all tests share: the option that rewrites golden files, and marks that are true."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from headwater.errors import HeadwaterError

# Every test asks Spark new things a few times: the time to optimise what runs once is not won back. There are many of
# them: in the little room that this compiler has by itself, it is full after a minute and stops for good.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")

# How long an example takes says something of the machine only.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

pytest_plugins = ("tests.stage.fixtures",)

MARKED_FOLDERS = {"jvm": ("tests/stories/",)}
"""Folders of which every test carries a mark."""

SLOW = (
    "tests/tpch/test_tpch",
    "tests/random_queries/test_random",
    "tests/stories/",
    "tests/faults/",
    "tests/ends/test_lake",
    "tests/kafka/test_kafka_tra",
    "tests/demo/",
)
"""Files and folders whose tests take minutes, those that take most first; each file runs on one worker."""

STARTS = (
    # mark, and the module and the class whose method starts what the mark stands for
    ("jvm", "pyspark.sql.session", "SparkSession.Builder", "getOrCreate"),
    ("services", "headwater.services.postgres", "EmbeddedPostgres", "__init__"),
    ("services", "headwater.services.process", "Server", "start"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` (make update) rewrites what stories and golden files expect, for a person to read."""
    parser.addoption("--update", action="store_true", help="rewrite golden files with what came out")
    parser.addoption(
        "--kills", type=int, default=3, help="how often each victim of the fault tests is killed"
    )
    parser.addoption(
        "--from", type=int, default=0, help="the number of the kill to begin with", dest="kill_from"
    )
    parser.addoption("--seed", default="", help="what random tests are made from, as a run has told it")
    parser.addoption(
        "--old-postgres",
        action="store_true",
        help="run every test of the source Postgres on the older server too",
    )
    parser.addoption("--queries", type=int, default=150, help="how many random queries are tried")


@pytest.fixture(scope="session")
def kills(pytestconfig: pytest.Config) -> int:
    """How often each victim of the fault tests is killed (make faults: 30 times)."""
    return int(pytestconfig.getoption("--kills"))


@pytest.fixture(scope="session")
def random_seed(pytestconfig: pytest.Config) -> str:
    """What random tests are made from: another one for each state of our code, unless --seed names it.

    So whoever changes something is asked new questions, and whoever tries the same code again the same ones.
    """
    given = str(pytestconfig.getoption("--seed"))
    if given:
        return given
    code = hashlib.sha256()
    for path in sorted((pytestconfig.rootpath / "headwater").rglob("*.py")):
        code.update(path.read_bytes())
    return str(int(code.hexdigest()[:8], 16))


@pytest.fixture(scope="session")
def query_count(pytestconfig: pytest.Config) -> int:
    """How many random queries are tried."""
    return int(pytestconfig.getoption("--queries"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a test has told by the property `told` is shown whether it passed or failed, from every worker."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, told in getattr(report, "user_properties", ()):
                if name == "told" and report.when == "call":
                    terminalreporter.write_line(f"{report.nodeid}: {told}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a marked folder carry its mark. Files that take minutes come first: none is left for the end."""
    places = {name: place for place, name in enumerate(SLOW)}
    items.sort(
        key=lambda item: min((p for n, p in places.items() if n in item.path.as_posix()), default=len(SLOW))
    )
    for item in items:
        for mark, folders in MARKED_FOLDERS.items():
            if any(folder in item.path.as_posix() for folder in folders):
                item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of an error of ours its detail and hint are told too, as a user would see them."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, HeadwaterError):
        report.sections.append(("the error", f"{error.message}\n{error.detail or ''}\n{error.hint or ''}"))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test without the mark cannot start Spark or a service, neither itself nor by its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        for mark, module, owner, method in STARTS:
            if item.get_closest_marker(mark) is None and module in sys.modules:
                patch.setattr(f"{module}.{owner}.{method}", _refusal(mark))
        return (yield)


def _refusal(mark: str) -> object:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail(f"a test that starts this needs @pytest.mark.{mark}")

    return refuse

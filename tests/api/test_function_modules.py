"""Python functions of modules that only this program finds, and that are edited. Oracle: literal rows."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import headwater
from headwater.services.java import java_home
from headwater.sources.values import STORES, ValuesStore
from headwater.spark.session import open_session
from tests.operators.on_paper import compile_on_paper

HOUSE = Path(__file__).parents[2]
NAME = "headwater_function_module"

TABLE = """
CREATE TABLE numbers (id INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'values', 'name' = 'function modules');
"""
FUNCTION = f"FUNCTION f AS '{NAME}.f' LANGUAGE PYTHON RETURNS BIGINT DETERMINISTIC;"
VIEW = "CREATE VIEW v AS SELECT id, f(id) AS y FROM numbers;"

ROWS = "def f(x: int) -> int:\n    return x + 1\n"
COLUMNS = """
import pyarrow as pa
import pyarrow.compute as pc

def f(x: pa.Array) -> pa.Array:
    return pc.add(x.cast("int64"), 1)
"""
WITH_HELPER = (
    "STEP = {step}\n\ndef stepped(x):\n    return x + STEP\n\ndef f(x: int) -> int:\n    return stepped(x)\n"
)

LOCK = threading.Lock()


def locked(text: str) -> int:
    """A lock cannot be sent anywhere."""
    with LOCK:
        return int(text) + 1


def decorated(function: Callable[[int], int]) -> Callable[[int], int]:
    """Says no more of the function than that it is one of integers."""

    def made(x: int) -> int:
        return function(x)

    return made


class Module:
    """A module in a folder that no worker of Spark looks into."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{NAME}.py"

    def says(self, text: str) -> None:
        """Write the text, and let the program have what it says."""
        self._file.write_text(text)
        importlib.invalidate_caches()
        if NAME in sys.modules:
            importlib.reload(sys.modules[NAME])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    # Two texts of one second and one length share their compiled form.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Module(folder)
    sys.modules.pop(NAME, None)


@pytest.fixture
def store() -> Iterator[ValuesStore]:
    STORES["function modules"] = made = ValuesStore()
    made.append({"numbers": [("+", {"id": 1})]})
    yield made
    del STORES["function modules"]


def rows(hw: headwater.Headwater, view: str = "v") -> list[tuple[object, ...]]:
    return sorted(map(tuple, hw.table(view).collect()))


@pytest.mark.jvm
@pytest.mark.parametrize(
    "text", [ROWS, COLUMNS, WITH_HELPER.format(step=1)], ids=["rows", "columns", "helper"]
)
def test_a_function_runs_where_its_module_is_not_found(
    text: str, tmp_path: Path, module: Module, store: ValuesStore
) -> None:
    module.says(text)
    with headwater.open(tmp_path / "state") as hw:
        hw.sql(f"{TABLE} CREATE {FUNCTION} {VIEW}")
        hw.run(once=True)
        assert rows(hw) == [(1, 2)]


@pytest.mark.jvm
@pytest.mark.parametrize(("text", "edit"), [(ROWS, ("+ 1", "+ 9")), (COLUMNS, ('"), 1', '"), 9'))])
def test_a_function_of_a_module_that_was_loaded_again_is_the_new_one(
    text: str, edit: tuple[str, str], tmp_path: Path, module: Module, store: ValuesStore
) -> None:
    module.says(text)
    with headwater.open(tmp_path / "state") as hw:
        hw.sql(f"{TABLE} CREATE {FUNCTION} {VIEW}")
        hw.run(once=True)
        assert rows(hw) == [(1, 2)]
        assert edit[0] in text
        module.says(text.replace(*edit))
        hw.sql(f"DROP VIEW v; CREATE OR REPLACE {FUNCTION} {VIEW}")
        hw.run(once=True)
        assert rows(hw) == [(1, 10)]


@pytest.mark.jvm
@pytest.mark.parametrize(
    ("path", "y"), [(f"{__name__}.locked", 2), ("json.loads", 1)], ids=["ours", "Python's"]
)
def test_what_cannot_be_sent_is_imported_by_the_worker(
    path: str, y: int, tmp_path: Path, store: ValuesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker looks where Java was started, and that may have been by a file before this one, in a folder of its own.
    context = open_session(java_home(), name="function modules").sparkContext
    monkeypatch.setitem(context.environment, "PYTHONPATH", str(HOUSE))
    function = FUNCTION.replace(f"{NAME}.f", path)
    with headwater.open(tmp_path / "state") as hw:
        hw.sql(f"{TABLE} CREATE {function} {VIEW.replace('f(id)', 'f(CAST(id AS STRING))')}")
        hw.run(once=True)
        assert rows(hw) == [(1, y)]


@pytest.mark.jvm
def test_a_view_follows_what_its_function_uses_when_that_is_edited_between_two_runs(
    tmp_path: Path, module: Module, store: ValuesStore
) -> None:
    module.says(WITH_HELPER.format(step=1))
    with headwater.open(tmp_path / "state") as hw:
        hw.sql(f"{TABLE} CREATE {FUNCTION} {VIEW}")
        hw.run(once=True)
        assert rows(hw) == [(1, 2)]
    module.says(WITH_HELPER.format(step=10))
    store.append({"numbers": [("+", {"id": 2})]})
    with headwater.open(tmp_path / "state") as hw:
        hw.sql(f"{TABLE} CREATE {FUNCTION} {VIEW}")
        hw.run(once=True)
        assert rows(hw) == [(1, 11), (2, 12)]
        assert str(hw.sql("VERIFY v")).startswith("equal")


@pytest.mark.parametrize(
    ("edit", "is_another"),
    [
        (("STEP = 1", "STEP = 2"), True),
        (("return x + STEP", "return x - STEP"), True),
        (("return stepped(x)", "return stepped(-x)"), True),
        (("", ""), False),
    ],
    ids=["a constant", "a helper", "the function", "nothing"],
)
def test_an_edit_of_the_module_makes_another_view(
    edit: tuple[str, str], is_another: bool, module: Module
) -> None:
    script = f"{TABLE} CREATE {FUNCTION} {VIEW}"
    module.says(text := WITH_HELPER.format(step=1))
    before = compile_on_paper(script).views["v"].fingerprint
    module.says(text.replace(*edit))
    assert (compile_on_paper(script).views["v"].fingerprint != before) == is_another


def test_a_function_that_a_decorator_of_elsewhere_made_is_of_its_module_too(module: Module) -> None:
    script = f"{TABLE} CREATE {FUNCTION} {VIEW}"
    text = f"from {__name__} import decorated\n\n@decorated\ndef f(x):\n    return x + 1\n"
    module.says(text)
    before = compile_on_paper(script).views["v"].fingerprint
    module.says(text.replace("+ 1", "+ 2"))
    assert compile_on_paper(script).views["v"].fingerprint != before

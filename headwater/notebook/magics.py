"""`%%headwater` and `%headwater`: what a cell asks for, done."""

from __future__ import annotations

import argparse
import atexit
from typing import Any

from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

from headwater.errors import HeadwaterError, UsageError
from headwater.notebook.area import Area, Look
from headwater.notebook.asked import line_parser, read_cell, read_words
from headwater.notebook.complaint import CellError
from headwater.notebook.outcomes import outcome_html, outcome_text
from headwater.notebook.page import bundle, note_html, pre_html
from headwater.notebook.run import Run
from headwater.notebook.runs import Runs
from headwater.notebook.screen import Screen, show
from headwater.notebook.services import Services, services_word
from headwater.notebook.variables import filled
from headwater.runtime.catalog_sql import run_in_catalog
from headwater.runtime.declarations import Declarations, Script
from headwater.runtime.facts import BatchDone
from headwater.runtime.inspect import drop_state
from headwater.runtime.interactive import Interactive, folder_of, remove_unused, running_cores
from headwater.sources.base import Outcome, Report


class Notebook:
    """What the cells of one notebook share: declarations, Spark, pipelines."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._declarations = Declarations()
        self._interactive = Interactive()
        self._runs = Runs()
        self._screens: dict[str, Screen] = {}
        self._cell_id: str | None = None

    def magic(self, line: str, cell: str | None = None) -> Services | None:
        """Do what a cell of SQL, or a line of words, asks for."""
        try:
            if cell is None:
                return self._line(read_words(line_parser(), line))
            self._cell(read_cell(line), cell)
        except HeadwaterError as problem:
            raise CellError(problem) from None
        return None

    def before_cell(self, info: ExecutionInfo) -> None:
        """Remember which cell is run, where the client says so."""
        self._cell_id = getattr(info, "cell_id", None)

    @property
    def _number(self) -> int:
        """The number of the cell that is run: some versions of IPython count on before it runs, some after."""
        return len(self._shell.user_ns["In"]) - 1

    def close(self) -> None:
        """Stop everything."""
        self._runs.close()

    def _cell(self, given: argparse.Namespace, text: str) -> None:
        file = f"In [{self._number}]"
        # The first line of the cell is the magic itself: lines are counted as the notebook numbers them.
        text = filled("\n" + text, self._shell.user_ns, file=file)
        if given.on is not None:
            self._on(given, text, file)
            return
        script = self._declarations.read(text, file)
        if script.runs:
            self._run(given, script, file)
        else:
            self._say(script, self._interactive.answers(script, _Told()))
        self._declarations.keep(script)

    def _run(self, given: argparse.Namespace, script: Script, file: str) -> None:
        """Start a pipeline; what is wrong with it before it stands is wrong with the cell."""
        name = given.name or script.name or self._default_name()
        screen = self._screens[name] = Screen(self._shell)
        look = Look(given.rows, given.every, given.chart, given.x, given.y)
        run = Run(
            name,
            file,
            script.summary,
            Area(f"{file} {name}", look, screen.paint),
            lambda area: self._interactive.open(script, name, file=file, listener=area),
            once=given.once,
            is_kept=script.writes or name in (given.name, script.name),
        )
        was_there = folder_of(name).exists()
        self._runs.start(run)
        screen.show()
        if run.area.error is None:
            return
        if run.pipeline is None:
            self._runs.forget(name)
            if not was_there:
                remove_unused(folder_of(name))
        raise run.area.error

    def _default_name(self) -> str:
        """A cell that is run again is the same pipeline, if the client tells which cell it is."""
        known = "".join(letter for letter in self._cell_id or "" if letter.isalnum())
        return f"cell-{known[:8] or self._number}"

    def _say(self, script: Script, answers: tuple[str, ...]) -> None:
        """What was declared, and what SHOW, DESCRIBE and EXPLAIN answer."""
        known = self._declarations.kept
        fresh = [s for s in script.declared if not any(s is one for one in known)]
        declared = ", ".join(s.name for s in fresh if hasattr(s, "name"))
        note = f"declared {declared}" if declared else "done" if not answers else ""
        show(bundle([note_html(note), *map(pre_html, answers)], [note, *answers]))

    def _on(self, given: argparse.Namespace, text: str, file: str) -> None:
        """Run plain SQL where a catalog is; what was done before an error is shown too."""
        catalog = self._declarations.catalog(given.on)
        done: list[Outcome] = []
        try:
            done.extend(run_in_catalog(catalog, text, file=file, limit=given.rows))
        finally:
            if done:
                show(bundle([outcome_html(one) for one in done], [outcome_text(one) for one in done]))

    def _line(self, given: argparse.Namespace) -> Services | None:
        match given.word:
            case "services":
                return services_word(given)
            case "stop":
                self._runs.stop(given.names)
            case "wait":
                self._wait(given)
            case "drop":
                self._drop(given.names)
        if given.word in ("status", "stop"):
            show(self._runs.status())
        return None

    def _wait(self, given: argparse.Namespace) -> None:
        for run in self._runs.chosen(given.names):
            if run.is_over and not given.names:
                continue
            if not run.catch_up(given.seconds):
                raise UsageError(
                    f"'{run.name}' has not come so far within {given.seconds:g} s",
                    detail=f"It is {run.area.state}.",
                    hint="Look at its cell, or wait longer: --seconds N.",
                )
            if run.area.error is not None:
                raise run.area.error
            self._screens[run.name].show()

    def _drop(self, names: list[str]) -> None:
        for name in names:
            was_here = name in [run.name for run in self._runs.chosen([])]
            if was_here:
                self._runs.stop([name])
                self._runs.forget(name)
            # A query without a name took everything with it when it ended.
            if not was_here or folder_of(name).exists():
                drop_state(folder_of(name), listener=_Told())
        show(bundle([note_html(f"dropped {', '.join(names)}")], [f"dropped {', '.join(names)}"]))


class _Told:
    """Says what takes a while, outside of any area."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def report(self, report: Report) -> None:
        """Say once that something begins."""
        is_news = report.stage != "spark" or running_cores() is None
        if is_news and report.subject not in self._said:
            self._said.add(report.subject)
            print(f"{report.subject} ...", flush=True)

    def batch(self, done: BatchDone) -> None:
        """Nothing runs here."""


def load(shell: InteractiveShell) -> None:
    """Give a shell the magic; what runs is stopped when its process ends."""
    notebook = Notebook(shell)
    shell.magics_manager.register_function(notebook.magic, magic_kind="line_cell", magic_name="headwater")
    shell.events.register("pre_run_cell", notebook.before_cell)
    atexit.register(notebook.close)
    if hasattr(shell, "kernel"):
        _close_first(shell.kernel, notebook)


def _close_first(kernel: Any, notebook: Notebook) -> None:
    """Close the pipelines while Spark and the captures still live: a kernel that ends kills its children first."""
    shut_down = kernel.do_shutdown

    def closing(restart: bool) -> Any:
        notebook.close()
        return shut_down(restart)

    kernel.do_shutdown = closing

"""All pipelines of a notebook, by name: started, replaced, stopped, told about."""

from __future__ import annotations

import time
from collections.abc import Sequence

from headwater.errors import ServiceError, UsageError
from headwater.nearest import nearest_hint
from headwater.notebook.page import Bundle, Word, bundle, note_html, table_html
from headwater.notebook.plain import table_text
from headwater.notebook.run import Run
from headwater.runtime.interactive import busy_cores, running_cores

STOP_SECONDS = 60.0
LAST_SECONDS = 2.0
"""When the kernel ends, all of them have so long: after half a second more Jupyter ends it by force."""

COLUMNS = ("cell", "name", "runs", "state", "cores", "batch", "rows read", "lag", "cut")
RIGHT = (False, False, False, False, True, True, True, True, False)


class Runs:
    """The pipelines of one notebook."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def start(self, run: Run) -> None:
        """Start a pipeline in the place of the one of that name; returns when it stands, or is over."""
        former = self._runs.get(run.name)
        if former is not None:
            self._end([former])
        self._runs[run.name] = run
        try:
            run.start()
        except KeyboardInterrupt:
            run.stop()
            raise

    def stop(self, names: Sequence[str]) -> list[Run]:
        """Stop these, or all; those that ran, or had left something behind."""
        chosen = [run for run in self.chosen(names) if not run.is_over or run.left is not None]
        self._end(chosen)
        return chosen

    def chosen(self, names: Sequence[str]) -> list[Run]:
        """The runs of these names, or all."""
        wanted = [] if list(names) == ["all"] else list(names)
        for name in wanted:
            if name not in self._runs:
                raise UsageError(
                    f"no cell runs '{name}'", hint=nearest_hint(name, list(self._runs), "pipelines")
                )
        return [run for name, run in self._runs.items() if not wanted or name in wanted]

    def forget(self, name: str) -> None:
        """Speak no more of a pipeline that is over."""
        self._runs.pop(name, None)

    def close(self) -> None:
        """The kernel ends: stop all at once."""
        for run in self._runs.values():
            run.stop()
        deadline = time.monotonic() + LAST_SECONDS
        for run in self._runs.values():
            run.join(deadline - time.monotonic())

    def status(self) -> Bundle:
        """Which cell runs what, on how many cores."""
        if not self._runs:
            return bundle([note_html("nothing was run yet")], ["nothing was run yet"])
        rows = [_row(run) for run in self._runs.values()]
        going = sum(not run.is_over for run in self._runs.values())
        cores = running_cores()
        told = f"{going} running" + (f"; all share one Spark with {cores} cores" if cores else "")
        errors = [
            f"{r.name}: {r.area.error.message}" for r in self._runs.values() if r.area.error is not None
        ]
        errors += [
            f"{r.name}: what it made at its sources is still there: {r.left.message}; stop it again, or drop it"
            for r in self._runs.values()
            if r.left is not None
        ]
        return bundle(
            [table_html(COLUMNS, rows, RIGHT), note_html(told), *map(note_html, errors)],
            [table_text(COLUMNS, rows, RIGHT), told, *errors],
        )

    def _end(self, runs: Sequence[Run]) -> None:
        for run in runs:
            run.stop()
        for run in runs:
            if not run.join(STOP_SECONDS):
                raise ServiceError(
                    f"'{run.name}' has not stopped yet",
                    detail=f"Its step takes longer than {STOP_SECONDS:.0f} s.",
                    hint="Wait and stop it again, or restart the kernel: nothing is lost.",
                )


def _row(run: Run) -> list[object]:
    area = run.area
    done = area.last
    is_over = run.is_over
    return [
        run.cell,
        run.name,
        run.what,
        Word(area.state),
        "" if is_over or run.pipeline is None else f"{busy_cores(run.pipeline)} of {running_cores()}",
        "" if done is None else done.batch_id,
        f"{area.rows_read:,}",
        "" if done is None or done.lag is None or is_over else f"{done.lag:.2f} s",
        "" if done is None else str(done.cut),
    ]

"""Headwater and its peers on the same rows in the same run, one after the other.

    make bench                                              # everything, at full size; writes docs/benchmarks.md
    make bench only=headwater,flink workload=W1 size=200k   # a quick look: the table, and JSON in the cache

Every contender gets a fresh copy of the source, keeps a query's result in a table of another database, and is watched
by that table alone. After each leg the whole table is compared. Who fails is told with the reason.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Sequence

from bench import page, relay, report
from bench.alone import Alone
from bench.course import Course
from bench.kept import keep, sketch
from bench.peers.table import EVERYONE, taking_part
from bench.race import SERVER, raced
from bench.results import Failure, Figure, Run, Settings
from bench.ways import Way
from bench.workloads.table import WORKLOADS

MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}


def main() -> None:
    """Run what is asked for, print it, and keep it if it is the whole."""
    # Whoever is told to end ends what was started too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = parsed(sys.argv[1:])
    names = given.only.split(",") if given.only else [each.name for each in EVERYONE]
    wanted = given.workload.upper().split(",") if given.workload else list(WORKLOADS)
    unknown = {*names} - {each.name for each in EVERYONE} | {*wanted} - {*WORKLOADS}
    if unknown:
        known = ", ".join([*(each.name for each in EVERYONE), *WORKLOADS])
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {known}")
    whole = not given.only and not given.size
    for workload in wanted:
        sized, make = WORKLOADS[workload]
        size = counted(given.size) if given.size else sized
        run = measured(make(size), size, names, asked(given))
        print(report.told(run), flush=True)
        if whole or given.keep:
            keep(workload, run)
        else:
            print(f"\n{sketch(workload, run)}", flush=True)


def parsed(words: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        prog="make bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="contenders, apart by commas")
    parser.add_argument("--workload", default="", help="workloads, apart by commas")
    parser.add_argument("--size", default="", help="rows of the largest table: 2m, 200k")
    parser.add_argument("--keep", action="store_true", help="write the page although it is not the whole")
    return parser.parse_args(words)


def asked(given: argparse.Namespace) -> str:
    """The command, as somebody would type it again."""
    words = [f"{name}={value}" for name, value in vars(given).items() if value and name != "keep"]
    return " ".join(["make bench", *words])


def counted(text: str) -> int:
    """A size as a number.

    >>> counted("200k"), counted("2M"), counted("5000")
    (200000, 2000000, 5000)
    """
    found = re.fullmatch(r"(\d+)([km]?)", text.lower())
    if found is None:
        sys.exit(f"size '{text}' is not understood; write 200k or 2m")
    return int(found[1]) * MULTIPLES[found[2]]


def measured(course: Course | Alone, size: int, names: Sequence[str], command: str) -> Run:
    """One workload by everyone who is named."""
    found: list[Figure | Failure] = []
    for each in course.figures() if isinstance(course, Alone) else raced(course, names, say):
        found.append(each)
        say(told(each))
    return Run(
        machine=page.machine(),
        command=command,
        sizes={course.workload: size},
        settings=() if isinstance(course, Alone) else settings(course, names),
        figures=tuple(each for each in found if isinstance(each, Figure)),
        failures=tuple(each for each in found if isinstance(each, Failure)),
    )


def settings(course: Course, names: Sequence[str]) -> tuple[Settings, ...]:
    """How everyone who takes part is set up, and before them what all of them stand on."""
    ground = [Settings("Postgres", SERVER)]
    if course.way is Way.TOPICS:
        ground.append(Settings("Kafka and Debezium", dict(relay.settings())))
    given = taking_part(names, course.job, course.way)
    return (*ground, *(Settings(each.name, dict(each.settings(course.way))) for each in given))


def told(found: Figure | Failure) -> str:
    """A line of progress."""
    match found:
        case Figure():
            return f"{found.who:<18} {found.what:<22} {report.number(found.value):>10} {found.unit}"
        case Failure():
            return f"{found.who:<18} {found.what:<22}     failed: {found.reason}"


def say(line: str) -> None:
    """Print it at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()

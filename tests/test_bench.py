"""What `make bench` makes of its figures: ratios, tables, plots, the page; and how it holds the processes it measures.

Oracle: a small run written down below, and what its figures come to by hand. Nothing is measured here.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import kept, page, relay
from bench.__main__ import asked, counted, parsed, settings
from bench.contender import Failed, Ground, Program, waited
from bench.course import Course
from bench.goals import GOALS, Goal, judged
from bench.peers import flink, headwater, pathway
from bench.peers.table import CONTENDERS, EVERYONE, taking_part
from bench.plots import plotted
from bench.race import between
from bench.report import number, told
from bench.results import Failure, Figure, Run, Settings, read, written
from bench.ways import READ, Topics, Way
from bench.workloads import claims, ranking
from bench.workloads.table import WORKLOADS
from headwater.services.postgres import PostgresServer

RUN = Run(
    machine="a machine",
    command="make bench",
    sizes={"W1": 20_000},
    settings=(Settings("flink", {"version": "1", "chunk": "200000"}),),
    figures=(
        Figure("W1", "first load", "headwater", 10.0, "s"),
        Figure("W1", "first load", "flink", 100.0, "s"),
        Figure("W1", "backlog", "headwater", 30_000.0, "changes/s"),
        Figure("W1", "backlog", "flink", 10_000.0, "changes/s"),
        Figure("W1", "commit to row, p50", "headwater", 80.0, "ms"),
        Figure("W1", "commit to row, p95", "headwater", 120.0, "ms"),
        Figure("W1", "wrong totals", "headwater", 0.0, "%"),
    ),
    failures=(Failure("W1", "first load", "pathway", "it ended with code 1"),),
)


def test_a_ratio_is_ours_over_theirs_and_is_held_against_its_target() -> None:
    found = {(each.goal.what, each.goal.against): (each.ratio, each.verdict) for each in judged(RUN)}
    assert found["first load", "flink"] == (0.1, "met")
    assert found["backlog", "flink"] == (3.0, "missed")
    assert found["commit to row, p95", "headwater"] == (1.5, "met")
    assert found["wrong totals", None] == (0.0, "met")
    assert found["memory", "flink"] == (None, "not measured")
    # Nobody ran the other workloads.
    assert {each.goal.workload for each in judged(RUN)} == {"W1"}


def test_a_target_that_is_missed_upwards_is_missed() -> None:
    goals = [
        Goal("W1", "first load", 1 / 20, against="flink"),
        Goal("W1", "backlog", 2, least=True, against="flink"),
    ]
    assert [each.verdict for each in judged(RUN, goals)] == ["missed", "met"]


def test_the_page_tells_figures_goals_failures_and_settings() -> None:
    lines = told(RUN).splitlines()
    assert lines[0] == "|  |  | headwater | flink | pathway |"
    assert "| W1 | first load, s | 10.0 | 100 | failed |" in lines
    assert "| W1 | backlog, changes/s | 30,000 | 10,000 | failed |" in lines
    assert "| W1 | first load | of flink's | 0.10 | at most 0.125 | met |" in lines
    assert "- pathway failed at first load (W1): it ended with code 1" in lines
    assert lines[-1] == "- **flink**: version `1`; chunk `200000`"


def test_a_number_has_as_many_digits_as_mean_something() -> None:
    assert [number(value) for value in (118.23, 12.34, 0.1714, 20412.7, 0.0)] == [
        "118", "12.3", "0.17", "20,413", "0",
    ]  # fmt: skip


def test_a_run_comes_back_from_its_json(tmp_path: Path) -> None:
    path = tmp_path / "W1.json"
    path.write_text(written(RUN))
    assert read(path) == RUN


def test_a_plot_has_a_bar_for_each_figure() -> None:
    root = ElementTree.fromstring(plotted(RUN, "W1"))
    bars = [node for node in root if node.tag.endswith("rect")]
    assert len(bars) == len(RUN.figures)
    lengths = [float(bar.attrib["width"]) for bar in bars[:2]]
    assert lengths[0] == pytest.approx(lengths[1] / 10, rel=0.01)


def test_a_whole_run_is_kept_on_the_page_with_its_plot_and_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    (tmp_path / "images").mkdir()
    (tmp_path / "benchmarks.md").write_text("Before.\n<!-- W1 -->\nold\n<!-- end of W1 -->\nAfter.\n")
    kept.keep("W1", RUN)
    text = (tmp_path / "benchmarks.md").read_text()
    assert text.startswith("Before.\n<!-- W1 -->\n`make bench`, ") and text.endswith(
        "<!-- end of W1 -->\nAfter.\n"
    )
    assert "old" not in text and told(RUN) in text
    assert read(tmp_path / "benchmarks" / "W1.json") == RUN
    assert (tmp_path / "images" / "bench-W1.svg").read_text() == plotted(RUN, "W1")


def test_every_workload_has_its_place_on_the_page() -> None:
    text = page.PAGE.read_text()
    assert [
        name for name in WORKLOADS if f"<!-- {name} -->" not in text or f"<!-- end of {name} -->" not in text
    ] == []
    assert {goal.workload for goal in GOALS} <= {*WORKLOADS}


def test_everyone_has_a_name_of_his_own_and_tells_his_settings() -> None:
    assert len({each.name for each in EVERYONE}) == len(EVERYONE)
    assert all(each.settings(way) for each in EVERYONE for way in Way)
    words = {each.name: " ".join(each.settings(Way.LOG).values()) for each in EVERYONE}
    assert "licence key" in words["pathway"]
    assert "licence key" not in " ".join(pathway.Pathway().settings(Way.TOPICS).values())
    again = flink.Flink("again", flink.MINI_BATCH)
    assert all(flink.MINI_BATCH.items() <= dict(again.settings(way)).items() for way in Way)


def test_settings_tell_the_reader_of_the_way_that_is_run() -> None:
    log, topics = (dict(flink.Flink().settings(way)) for way in (Way.LOG, Way.TOPICS))
    assert log["scan.incremental.snapshot.chunk.size"] == "200000" and "format" not in log
    assert topics["format"] == "debezium-json" and "scan.incremental.snapshot.chunk.size" not in topics
    assert log["postgres-cdc"] == flink.CDC and topics["kafka"] == flink.KAFKA
    assert READ.items() <= dict(headwater.Headwater().settings(Way.TOPICS)).items()
    told_of = [each.who for each in settings(claims.over_kafka(20_000), ["headwater", "flink", "floor"])]
    assert told_of == ["Postgres", "Kafka and Debezium", "headwater", "flink"]
    assert [each.who for each in settings(claims.course(20_000), ["headwater"])] == ["Postgres", "headwater"]


def test_who_has_no_part_in_a_workload_is_left_out() -> None:
    everyone = [each.name for each in EVERYONE]

    def entered(course: Course) -> list[str]:
        return [each.name for each in taking_part(everyone, course.job, course.way)]

    sql = ["headwater", "flink", "flink-mini-batch"]
    yardsticks = ["floor", "debezium", "recompute"]
    assert entered(claims.course(20_000)) == [*sql, "pathway", *yardsticks]
    # There is no program for Pathway.
    assert entered(ranking.course(20_000)) == [*sql, *yardsticks]
    assert entered(claims.over_kafka(20_000)) == [*sql, "pathway"]
    assert [each.name for each in taking_part(["flink"], claims.JOB, Way.TOPICS)] == ["flink"]


def test_sizes_and_the_command_are_told_as_they_are_typed() -> None:
    assert [counted(text) for text in ("200k", "2M", "5000")] == [200_000, 2_000_000, 5_000]
    with pytest.raises(SystemExit, match="size '2x' is not understood"):
        counted("2x")
    given = parsed(["--only", "headwater,flink", "--workload", "W1", "--size", "200k"])
    assert asked(given) == "make bench only=headwater,flink workload=W1 size=200k"


def test_the_changes_of_a_workload_are_the_same_each_time() -> None:
    for course in (claims.course, claims.over_kafka, ranking.course):
        assert course(20_000).parts == course(20_000).parts
        assert course(20_000).changes == 5_000
        assert {name for name, _ in course(20_000).legs} <= {*course(20_000).parts}


def test_who_speaks_sql_is_asked_the_same(tmp_path: Path) -> None:
    ground = Ground(PostgresServer(tmp_path, 5432), "source_a", "target_a", tmp_path)
    for job in (claims.JOB, ranking.JOB):
        scripts = [headwater.script(job, ground), flink.script(job, ground, flink.MINI_BATCH)]
        for statement in job.statements():
            assert all(f"{statement};" in script for script in scripts)
    assert "SET 'table.exec.mini-batch.enabled' = 'true';" in scripts[1]
    assert "'slot.name' = 'flink_claims'" in scripts[1] and "'slot.name' = 'flink_members'" in scripts[1]


def test_over_kafka_rows_and_changes_are_those_of_the_claims_join() -> None:
    first, over = claims.course(20_000), claims.over_kafka(20_000)
    assert (first.workload, over.workload) == ("W1", "W5")
    assert (over.job, over.filled, over.parts) == (first.job, first.filled, first.parts)
    assert [name for name, _ in over.legs] == [name for name, _ in first.legs]
    # No goal is set for it.
    assert "W5" not in {goal.workload for goal in GOALS}


TOPICS = Topics("127.0.0.1:9092", "http://127.0.0.1:8083", "source_a")


def test_who_speaks_sql_reads_the_same_topics(tmp_path: Path) -> None:
    ground = Ground(PostgresServer(tmp_path, 5432), "source_a", "target_a", tmp_path, TOPICS)
    for script in (headwater.script(claims.JOB, ground), flink.script(claims.JOB, ground, {})):
        for table in claims.JOB.tables:
            assert f"{table.declared(TOPICS.options(table.name))};" in script
        assert all(f"{statement};" in script for statement in claims.JOB.statements())
        assert "'topic' = 'source_a.public.claims'" in script and "'format' = 'debezium-json'" in script
        # The result still goes to a table of Postgres, and no slot is anybody's but Debezium's.
        assert "'connector' = 'jdbc'" in script
        assert "postgres-cdc" not in script and "slot.name" not in script


def test_one_connector_tells_all_tables_and_their_transactions(tmp_path: Path) -> None:
    ground = Ground(PostgresServer(tmp_path, 5432), "source_a", "target_a", tmp_path, TOPICS)
    made = relay.connector(TOPICS, claims.JOB, ground, {})
    assert made.name == "source_a"
    assert relay.CONNECTOR.items() <= dict(made.config).items()
    assert made.config["table.include.list"] == "public.members,public.claims"
    assert made.config["database.dbname"] == "source_a"
    assert made.config["provide.transaction.metadata"] == "true"
    # Two contenders meet at one server and one broker, and share neither slot nor topics.
    other = relay.connector(replace(TOPICS, prefix="source_b"), claims.JOB, ground, pathway.PAYLOAD)
    assert all(
        made.config[own] != other.config[own] for own in ("topic.prefix", "slot.name", "publication.name")
    )
    # Only who cannot read events as they are has them changed.
    assert pathway.PAYLOAD.items() <= dict(other.config).items()
    assert [each.name for each in CONTENDERS if each.events()] == ["pathway"]


def test_without_topics_nothing_stands_between(tmp_path: Path) -> None:
    ground = Ground(PostgresServer(tmp_path, 5432), "source_a", "target_a", tmp_path)
    with relay.telling(claims.JOB, ground, 1, {}), between(Way.LOG, tmp_path) as stands:
        assert stands is None
    assert list(tmp_path.iterdir()) == []


SLEEPER = "import os, sys, time; os.fork(); print('up', flush=True); time.sleep(600)"


def test_all_processes_of_a_contender_are_found_frozen_and_ended(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.start("sleeper", [sys.executable, "-c", SLEEPER])
    try:
        waited(lambda: program.said("sleeper").count("up") == 2, program.check, 120.0, "both")
        assert len(program.pids()) == 2
        assert program.memory() > 1_000_000
        program.freeze()
        waited(lambda: states(program) == ["T", "T"], program.check, 120.0, "the stop of both")
        program.thaw()
        waited(lambda: "T" not in states(program), program.check, 120.0, "their going on")
    finally:
        program.stop()
    assert program.pids() == []


def states(program: Program) -> list[str]:
    """How each process is: T is frozen."""
    return [Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] for pid in program.pids()]


def test_a_contender_that_ended_is_told_with_what_it_said(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.start("broken", [sys.executable, "-c", "print('no room', flush=True); raise SystemExit(3)"])
    with pytest.raises(Failed, match="broken ended with code 3: no room"):
        waited(lambda: False, program.check, 120.0, "anything")
    program.stop()


def test_a_contender_that_complains_or_is_late_has_failed(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="its job is FAILED"):
        Program(tmp_path, lambda: "its job is FAILED").check()
    with pytest.raises(Failed, match="the first rows did not come within 0 s"):
        waited(lambda: False, Program(tmp_path).check, 0.0, "the first rows")

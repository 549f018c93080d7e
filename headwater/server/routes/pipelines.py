"""/pipelines: how each is, its graph, its batches, and whether its results are true."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Query
from pydantic import Field

from headwater.errors import UsageError
from headwater.runtime.graph import graph, node_names, node_of
from headwater.runtime.pipeline import Pipeline
from headwater.runtime.program import Question
from headwater.server.applications import find_application
from headwater.server.bodies import Body
from headwater.server.pipelines import batch_answer, report_answers, running, summaries, summary
from headwater.server.records import Version
from headwater.server.refusals import missing
from headwater.server.server import Server

VERIFY_SECONDS = 600.0


class Verify(Body):
    """Which result is recomputed."""

    result: str | None = Field(
        default=None, description="a view, or what an INSERT INTO writes; all without it"
    )


def router(server: Server) -> APIRouter:
    """The pages of pipelines; each has the name of its application."""
    made = APIRouter(prefix="/pipelines", tags=["pipelines"])

    @made.get("")
    def list_all() -> dict[str, Any]:
        """Every application that was ever deployed, with state, cut, lag, rates and last steps."""
        return {"pipelines": summaries(server)}

    @made.get("/{name}")
    def show(name: str) -> dict[str, Any]:
        """How a pipeline is; its graph while it runs."""
        application = find_application(server, name)
        deployed = server.deployed(application)
        pipeline = deployed.pipeline if deployed is not None else None
        drawn = None
        if deployed is not None and pipeline is not None:
            drawn = graph(pipeline, deployed.facts.recent())
        reports = report_answers(server, deployed)
        return summary(server, application) | {"graph": drawn, "reports": reports}

    @made.get("/{name}/batches")
    def batches(name: str, limit: int = Query(default=50, ge=1, le=100)) -> dict[str, Any]:
        """The last batches, the latest first."""
        deployed = server.deployed(find_application(server, name))
        known = deployed.facts.recent() if deployed is not None else []
        return {"batches": [batch_answer(one) for one in reversed(known[-limit:])]}

    _look_inside(made, server)
    return made


def _look_inside(made: APIRouter, server: Server) -> None:
    """What only a pipeline that runs can tell."""

    @made.get("/{name}/nodes/{node:path}")
    def show_node(name: str, node: str) -> dict[str, Any]:
        """A table, view or sink: its SQL, how it is maintained, what is stored, its last steps."""
        application = find_application(server, name)
        deployed, pipeline = running(server, application)
        if node not in node_names(pipeline):
            raise missing("table, view or sink", node, node_names(pipeline))
        version = server.store.all(Version, id=deployed.deployment.version_id)[0]
        return node_of(pipeline, node, server.script(version))

    @made.post("/{name}/verify")
    def verify(name: str, body: Verify) -> dict[str, Any]:
        """Recompute results from the stored tables at the present cut, and compare."""
        deployed, pipeline = running(server, find_application(server, name))
        known = list(pipeline.program.results)
        if body.result is not None and body.result not in known:
            raise missing("result", body.result, known)
        return deployed.turning.ask(lambda one: _verified(one, body.result), VERIFY_SECONDS)


def _verified(pipeline: Pipeline, result: str | None) -> dict[str, Any]:
    wanted = [result] if result is not None else list(pipeline.program.results)
    if not wanted:
        raise UsageError("the pipeline has no result to verify")
    answers = [(name, pipeline.answer(Question("truth", name))) for name in wanted]
    return {
        "cut": str(pipeline.cut()),
        "is_equal": not any(answer.is_bad for _, answer in answers),
        "results": [{"result": name, "is_equal": not a.is_bad, "text": a.text} for name, a in answers],
    }

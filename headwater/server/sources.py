"""The sources of everything that runs, and how the columns of their tables were declared from version to version."""

from __future__ import annotations

from typing import Any

from headwater.errors import HeadwaterError
from headwater.runtime.source_facts import source_facts
from headwater.server.answers import moment
from headwater.server.records import Version
from headwater.server.server import Server
from headwater.sql.script import parse_script
from headwater.sql.statements import CreateTable


def source_answers(server: Server) -> list[dict[str, Any]]:
    """Every source of every pipeline that runs."""
    found = []
    for name, deployed in server.running().items():
        pipeline = deployed.pipeline
        if pipeline is None:
            continue
        declared = _declared(server, deployed.deployment.application_id)
        reports = list(deployed.facts.reports)
        for one in source_facts(pipeline, deployed.facts.recent(), reports):
            for table in one["tables"]:
                table["versions"] = declared.get(table["name"].lower(), [])
                if table["last_event"] is not None:
                    table["last_event"]["at"] = moment(table["last_event"]["at"])
            found.append({"application": name, **one, "source": server.mask(one["source"])})
    return found


def _declared(server: Server, application_id: str) -> dict[str, list[dict[str, Any]]]:
    """For each table the versions of its application in which its columns became others."""
    found: dict[str, list[dict[str, Any]]] = {}
    for version in server.store.all(Version, application_id=application_id):
        for name, columns in _columns(server, version).items():
            known = found.setdefault(name, [])
            if not known or known[-1]["columns"] != columns:
                known.append(
                    {"version": version.version, "created_at": moment(version.created_at), "columns": columns}
                )
    return found


def _columns(server: Server, version: Version) -> dict[str, list[str]]:
    """The columns that the tables of a version are declared with; none where the source is asked for them."""
    try:
        script = parse_script(server.script(version), "version")
    except HeadwaterError:
        # An integration that it needs is gone; what is told of tables is that of other versions.
        return {}
    return {
        one.name.lower(): [f"{column.name} {column.type}" for column in one.columns or ()]
        for one in script
        if isinstance(one, CreateTable)
    }

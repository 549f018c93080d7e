"""What a search cluster refuses for good, as errors that name the document, the field, the reason and the way out."""

from __future__ import annotations

import json
import re
from typing import Any

from headwater.errors import AwayError, Place, SinkError
from headwater.sinks.search.client import Answer, Unreachable

_HINTS = {
    # the error's type: what to do
    "mapper_parsing_exception": "The index maps the field to another type: delete the index so that it is made anew, or "
    "reindex it with a fitting mapping, or CAST the column.",
    "document_parsing_exception": "The index maps the field to another type: delete the index so that it is made anew, "
    "or reindex it with a fitting mapping, or CAST the column.",
    "strict_dynamic_mapping_exception": "The index takes no new fields: add the field to its mapping.",
    "illegal_argument_exception": "See the reason; ids are at most 512 bytes long and never empty.",
    "invalid_index_name_exception": "Names of indices are in lower case, without blanks and most signs.",
    "index_not_found_exception": "The cluster does not make indices by itself: create the index, or allow it with "
    "action.auto_create_index.",
    "version_conflict_engine_exception": "The document was written by another pipeline, another state folder or a "
    "process that is ahead. If that is past, delete the index and start anew.",
    "security_exception": "Grant the user the rights to create, write and read the index and headwater_batches.",
}


def unreachable(problem: Unreachable, place: Place | None) -> SinkError:
    """The error of nodes that do not answer when a pipeline starts."""
    kind = SinkError if problem.by_certificate else AwayError
    return kind(
        f"no node of 'hosts' answers: {problem.node}",
        detail=f"{problem.reason}.",
        hint="Check the certificate: 'ssl.ca.location' names its authority; a port without TLS is written http://."
        if problem.by_certificate
        else "Check that the server runs and that 'hosts' is right.",
        place=place,
    )


def refused(answer: Answer, subject: str, *, place: Place | None) -> SinkError:
    """The error of a request that was refused as a whole."""
    if answer.status in (401, 403):
        return SinkError(
            f"{answer.node} does not let this user use {subject}",
            detail=f"{answer.status}: {answer.reason}.",
            hint="Check 'username' and 'password'." if answer.status == 401 else _HINTS["security_exception"],
            place=place,
        )
    error = answer.said.get("error") if isinstance(answer.said, dict) else None
    kind = error.get("type", "") if isinstance(error, dict) else ""
    return SinkError(
        f"{answer.node} refused {subject}",
        detail=f"{answer.status}: {answer.reason}.",
        hint=_HINTS.get(kind, "See the server's log for more."),
        place=place,
    )


def refused_document(action: str, status: int, error: dict[str, Any], *, place: Place | None) -> SinkError:
    """The error of one document that was refused for good."""
    meta = next(iter(json.loads(action.split("\n", 1)[0]).values()))
    reason, kind = str(error.get("reason", "")), str(error.get("type", ""))
    field = re.search(r"field \[([^\]]+)\]", reason)
    cause = error.get("caused_by")
    because = f" ({cause['reason']})" if isinstance(cause, dict) and cause.get("reason") else ""
    if status == 409:
        message = (
            f"document '{meta['_id']}' of index '{meta['_index']}' is newer than batch {meta['version']}"
        )
    else:
        of_field = f"field '{field[1]}' of " if field else ""
        message = f"{of_field}document '{meta['_id']}' was refused by index '{meta['_index']}'"
    return SinkError(
        message,
        detail=f"{status} {kind}: {reason}{because}.",
        hint=_HINTS.get(kind, "See the server's log for more."),
        place=place,
    )

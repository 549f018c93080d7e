"""/queries: questions in SQL over everything that runs, each answered at one cut."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlglot import exp

from headwater.errors import UsageError
from headwater.runtime.reading import Limits
from headwater.server.answers import moment
from headwater.server.forms import row_objects
from headwater.server.reader import Answer
from headwater.server.server import Server
from headwater.sql.script import parse_script
from headwater.sql.statements import Select

MOST_STATEMENTS = 8
LIMITS = Limits(rows=10_000, bytes=32 << 20, seconds=60.0)


def router(server: Server) -> APIRouter:
    """The page of queries."""
    made = APIRouter(prefix="/queries", tags=["views"])

    @made.get("")
    def ask(
        sql: Annotated[str, Query(max_length=20_000, description="SELECTs; a semicolon between two")],
        limit: Annotated[int, Query(ge=1, le=10_000, description="how many rows of each are given")] = 500,
    ) -> Response:
        """What some SELECTs give, all at one cut of each pipeline."""
        queries = _queries(sql)
        with server.reader.held() as held:
            asked = [held.select(query, LIMITS) for query in queries]
        told = ", ".join(_told(one, limit) for one in asked)
        return Response(f'{{"results": [{told}]}}', media_type="application/json")

    return made


def _queries(text: str) -> list[exp.Query]:
    statements = parse_script(text, "sql")
    other = next((one for one in statements if not isinstance(one, Select)), None)
    if other is not None:
        raise UsageError(
            "only SELECT can be asked here",
            hint="What declares or changes something belongs to an application.",
            place=other.place,
        )
    if len(statements) > MOST_STATEMENTS:
        raise UsageError(f"these are more than {MOST_STATEMENTS} questions at once")
    return [one.query for one in statements if isinstance(one, Select)]


def _told(answer: Answer, limit: int) -> str:
    head = {
        "cut": answer.cut,
        "batch": answer.batch_id,
        "at": moment(answer.reached_at),
        "count": answer.table.num_rows,
        "columns": [{"name": column.name, "type": column.type} for column in answer.schema],
    }
    batches = answer.table.slice(0, limit).combine_chunks().to_batches()
    rows = [row for batch in batches for row in row_objects(answer.schema, batch)]
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [{", ".join(rows)}]}}'

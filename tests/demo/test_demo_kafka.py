"""`headwater demo claims-kafka` as a program, with all its services.

Oracle: the query as Postgres answers it while nobody changes the tables, and the documents as OpenSearch tells them.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.demo.played import PATIENCE, Demo, wait_for

pytestmark = [pytest.mark.services, pytest.mark.jvm, pytest.mark.timeout(1200)]

TABLES = "claims.accident_claims, claims.members"

COSTS = """
SELECT upper(left(m.insurance_company, 4) || '_' || left(ac.accident_detail, 4)), m.insurance_company,
       ac.accident_detail, sum(ac.claim_total)
FROM claims.accident_claims ac JOIN claims.members m ON ac.member_id = m.id
WHERE ac.claim_status <> 'DENIED'
GROUP BY m.insurance_company, ac.accident_detail
"""


def documents(demo: Demo) -> dict[str, Any]:
    """The documents of the index, by their ids."""
    url = f"http://127.0.0.1:{demo.ports['opensearch']}/agg_insurance_costs/_search?size=100"
    said = json.loads(urllib3.request("GET", url, retries=False).data)
    return {hit["_id"]: hit["_source"] for hit in said["hits"]["hits"]}


def follows(demo: Demo) -> None:
    """Wait until the documents are what the query says."""
    with demo.held(TABLES) as cursor:
        cursor.execute(COSTS)
        names = ("es_key", "insurance_company", "accident_detail", "accident_agg_cost")
        expected = {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}
        assert wait_for(lambda: documents(demo) == expected, PATIENCE), (documents(demo), expected)
        assert len(expected) == 28


def test_documents_follow_the_claims_and_nothing_is_left(folder_of_its_own: Path) -> None:
    folder = folder_of_its_own / "jdbc"
    folder.mkdir()
    with Demo("claims-kafka", folder) as demo:
        demo.says("\nindex agg_insurance_costs: ")
        demo.says("\ntopic u claims.accident_claims")
        follows(demo)
        told = demo.told()
        assert "claims-connector is RUNNING and takes a snapshot first" in told
        assert f"curl http://127.0.0.1:{demo.ports['connect']}/connectors/claims-connector/status" in told
        assert demo.end(signal.SIGINT) == 130
    demo.leaves_nothing()

"""A question to a server of ours over HTTP, and whether it was answered well."""

from __future__ import annotations

import urllib3

from headwater.services.ports import HOST

ANSWER_SECONDS = 2.0

_POOL = urllib3.PoolManager()


def answers_well(port: int, path: str) -> bool:
    """True if the path gives 200 now."""
    try:
        answer = _POOL.request("GET", f"http://{HOST}:{port}{path}", timeout=ANSWER_SECONDS, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200

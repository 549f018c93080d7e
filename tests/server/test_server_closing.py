"""How a server ends. Oracle: what it has written down, and that its folder is free again."""

from __future__ import annotations

from pathlib import Path

from headwater.errors import ServiceError
from headwater.server.server import Server


def test_a_job_that_does_not_end_keeps_the_server_from_closing_nothing(tmp_path: Path) -> None:
    def not_yet() -> None:
        raise ServiceError("'into-totals' has not stopped yet")

    server = Server(tmp_path)
    server.before_close(not_yet)
    server.close()
    said = (tmp_path / "logs" / "server.jsonl").read_text()
    assert "'into-totals' has not stopped yet" in said
    assert "server stopped" in said
    Server(tmp_path).close()

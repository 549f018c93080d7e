"""How a server ends. Oracle: what it has written down, and that its folder is free again."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from headwater.errors import ServiceError
from headwater.server.deployments import deploy
from headwater.server.records import RUNNING, Application, Deployment, Version
from headwater.server.refusals import Unwritten
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
    server.close()
    Server(tmp_path).close()


def test_a_full_disk_ends_no_deployment_and_is_told_to_who_asks(tmp_path: Path) -> None:
    server = Server(tmp_path)
    application = server.store.add(Application("shop"))
    deployment = server.store.add(Deployment(application.id, "version"))
    server.store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(Unwritten, match="cannot be written"):
        server.store.add(Application("a" * 100_000))
    changed = server._changed(deployment, {"problem": {"message": "a" * 100_000}})
    assert changed.problem is not None
    assert server.store.all(Deployment) == [deployment]
    server.store._connection.execute("PRAGMA max_page_count = 1000000")
    server._changed(changed, {"status": RUNNING})
    [kept] = server.store.all(Deployment)
    assert kept.status == RUNNING and kept.problem is not None, "all of it is written again"
    assert "deployment not written down" in (tmp_path / "logs" / "server.jsonl").read_text()
    server.close()


def test_a_server_that_dies_while_a_version_takes_the_place_of_another_starts_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(tmp_path)
    application = server.store.add(Application("shop"))
    first, second = (server.store.add(Version(application.id, number, {}, "ann")) for number in (1, 2))
    server.store.add(Deployment(application.id, first.id))
    ran: list[Deployment] = []
    monkeypatch.setattr(Server, "run", lambda self, deployment: ran.append(deployment))
    monkeypatch.setattr(Server, "_start_spark", lambda self: None)
    add, left = server.store.add, [0]

    def dying(record: Deployment) -> Deployment:
        left[0] -= 1
        if left[0] < 0:
            raise SystemExit("killed")
        return add(record)

    monkeypatch.setattr(server.store, "add", dying)
    for writes in range(5):
        left[0], wanted = writes, Deployment(application.id, second.id)
        with suppress(SystemExit):
            deploy(server, application, wanted, who="ann", confirmed=True)
            break
        ran.clear()
        server.start()
        assert [one.version_id for one in ran] in ([first.id], [second.id])
    else:
        raise AssertionError("it never comes to its end")
    assert [one.id for one in server.store.all(Deployment, is_wanted=True)] == [wanted.id]
    server.close()


def test_one_application_that_takes_long_holds_up_no_other(tmp_path: Path) -> None:
    server = Server(tmp_path)
    shop, bank = (server.store.add(Application(name)) for name in ("shop", "bank"))
    entered = threading.Event()

    def other() -> None:
        with server.changing(bank), server.changing():
            entered.set()

    with server.changing(shop):
        threading.Thread(target=other).start()
        assert entered.wait(60)
    server.close()

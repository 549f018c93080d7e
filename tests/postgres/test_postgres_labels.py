"""Values of enums that get another name, of which no row tells.

Oracle: the columns that are made of the enum, by hand, and what was done to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headwater.log.events import Delivery
from headwater.log.losses import Loss
from headwater.log.manifest import Manifest
from headwater.sources.postgres.config import config_of, log_folder
from tests.postgres.captures import Started, captured
from tests.postgres.world import Database, World, read_now, wait_for

pytestmark = pytest.mark.services

MOODS = "id int, m string, h string, s array<string>, n int"


def losses(said: Sequence[Delivery]) -> list[Loss]:
    """What was lost, in order."""
    return [loss for delivery in said for loss in delivery.losses]


def make_moods(database: Database) -> None:
    """A table with an enum, as it is, below a domain and in an array."""
    database.run("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN humour AS mood")
    database.run("CREATE TABLE e (id int PRIMARY KEY, m mood, h humour, s mood[], n int)")
    database.run("INSERT INTO e VALUES (1, 'sad', 'ok', '{sad,ok}', 1)")


def test_a_value_of_an_enum_that_gets_another_name_is_a_loss(database: Database, world: World) -> None:
    make_moods(database)
    declared = database.table("e", MOODS, "id")
    with world.source(declared) as source:
        said = read_now(source)
    renames = ("RENAME VALUE 'sad' TO 'blue'", 3), ("RENAME VALUE 'ok' TO 'fine'", 3)
    for change, lost in (("ADD VALUE 'new'", 0), *renames):
        database.run(f"ALTER TYPE mood {change}")
        with world.source(declared, after=said[-1].position) as source:
            said += read_now(source, after=said[-1].position)
        assert len(losses(said)) == lost, "a new one takes nothing away, and a loss is told once"
    assert [(loss.column, loss.message) for loss in losses(said)] == [
        (column, f"a value of column '{column}' of table 'e' was renamed") for column in ("h", "m", "s")
    ]
    assert "It was 'sad' and is now 'blue'" in losses(said)[0].detail


def test_a_value_of_an_enum_that_gets_another_name_while_it_is_read_is_noticed(
    database: Database, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_moods(database)
    monkeypatch.setattr("headwater.sources.postgres.watch.WATCH_SECONDS", 0.05)
    started, config = Started(), config_of([database.table("e", MOODS, "id")], world.context, after=None)
    with captured(config, monkeypatch, started) as ended:
        wait_for(lambda: bool(started))
        database.run("ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'")
        manifest = Manifest(log_folder(world.context))
        wait_for(lambda: len(manifest.losses()) == 3)
        manifest.close()
        # Else it would go on.
        database.run(f'DROP PUBLICATION "{config.publication}"')
    assert str(ended[0]) == "table 'public.e' is no longer published"

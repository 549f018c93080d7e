"""Options of postgres-cdc, and names made from them.

Oracle: the texts, by hand.
"""

from __future__ import annotations

import pickle
import re

import pytest

from headwater.errors import OptionError
from headwater.options import read_options
from headwater.schema import Schema
from headwater.sources.base import SourceTable
from headwater.sources.postgres.agreed import check_group, publication_name, slot_name
from headwater.sources.postgres.config import CaptureConfig, CaptureTable, from_line, to_line
from headwater.sources.postgres.connect import address_of
from headwater.sources.postgres.options import PostgresOptions, group
from tests.postgres.world import World, schema

GIVEN = {
    "hostname": "db",
    "username": "u",
    "password": "open sesame",
    "database-name": "shop",
    "table-name": "orders",
}


def options(**more: str) -> PostgresOptions:
    given = GIVEN | {name.replace("__", ".").replace("_", "-"): value for name, value in more.items()}
    return read_options(PostgresOptions, given, owner="connector 'postgres-cdc'", place=None)


def table(name: str = "t", **more: str) -> SourceTable:
    return SourceTable(name, Schema(()), options(**more))


def test_a_group_is_a_database_and_shows_no_secret() -> None:
    assert group(options()) == "db:5432/shop"
    assert "sesame" not in repr(options())


def test_a_slot_is_named_after_the_pipeline_and_the_database() -> None:
    name = slot_name([table()], "My Claims!")
    assert re.fullmatch(r"headwater_my_claims__[0-9a-f]{8}", name)
    assert name == slot_name([table("other")], "My Claims!")
    assert name != slot_name([table(port="5433")], "My Claims!")
    assert len(slot_name([table()], "x" * 100)) == 63
    assert publication_name([table()], "My Claims!") == name


def test_names_that_are_given_win() -> None:
    assert slot_name([table(slot__name="mine")], "p") == "mine"
    assert slot_name([table(), table("b", debezium__slot__name="theirs")], "p") == "theirs"
    assert publication_name([table(debezium__publication__name="pub")], "p") == "pub"


@pytest.mark.parametrize(
    ("more", "message", "hint"),
    [
        ({"slot__name": "My-Slot"}, "option 'slot.name' does not take the value 'My-Slot'", "Use 'my_slot'."),
        ({"port": "70000"}, "option 'port' does not take the value '70000'", ""),
        (
            {"decoding__plugin__name": "wal2json"},
            "option 'decoding.plugin.name' does not take",
            "Use 'pgoutput'.",
        ),
        ({"scan__startup__mode": "latest"}, "option 'scan.startup.mode' does not take", "'latest-offset'"),
        (
            {"debezium__max__queue__size": "1"},
            "option 'debezium.max.queue.size' has no meaning here",
            "Remove it.",
        ),
        (
            {"debezium__snapshot__mode": "never"},
            "option 'debezium.snapshot.mode' = 'never'",
            "'latest-offset'",
        ),
        ({"sslmode": "verify"}, "option 'sslmode' does not take the value 'verify'", "'verify-ca'"),
        ({"debezium__database__sslmode": "on"}, "'sslmode' does not take the value 'on'", "'verify-full'"),
        (
            {"sslmode": "require", "debezium__database__sslmode": "disable"},
            "options 'sslmode' and 'debezium.database.sslmode' contradict each other",
            "Keep 'sslmode'.",
        ),
        ({"sslrootcert": "a.pem"}, "'sslrootcert' needs a mode that checks", "'verify-full'"),
        (
            {"sslrootcert": "a.pem", "sslmode": "prefer"},
            "'sslrootcert' needs a mode that checks",
            "'verify-full'",
        ),
        ({"sslcert": "a.pem"}, "'sslcert' needs 'sslkey'", "Add 'sslkey'."),
        ({"debezium__database__sslkey": "a.pem"}, "'sslkey' needs 'sslcert'", "Add 'sslcert'."),
        ({"sslpassword": "open sesame"}, "'sslpassword' needs 'sslkey'", "Add 'sslkey'."),
        (
            {"debezium__plugin__name": "decoderbufs"},
            "option 'debezium.plugin.name' does not take",
            "Remove it.",
        ),
    ],
)
def test_wrong_options_are_named(more: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(OptionError) as raised:
        options(**more)
    assert raised.value.message.startswith(message)
    assert hint in raised.value.hint


def test_harmless_options_of_debezium_are_accepted() -> None:
    options(debezium__snapshot__mode="initial", debezium__decimal__handling__mode="double")


def test_tables_that_share_a_slot_must_agree() -> None:
    check_group([table(), table("b", scan__startup__mode="latest-offset")])
    for more, message in [
        ({"username": "v"}, "different values of 'username'"),
        ({"password": "other"}, "different passwords"),
        ({"sslmode": "require"}, "want different connections"),
        ({"scan__startup__mode": "snapshot"}, "start in different ways"),
    ]:
        with pytest.raises(OptionError, match=message) as raised:
            check_group([table(), table("b", **more)])
        assert "sesame" not in str(raised.value) + raised.value.detail + raised.value.hint


def test_a_configuration_crosses_a_pipe_with_its_password(world: World) -> None:
    tls = {
        "sslmode": "require",
        "sslcert": "c",
        "sslkey": "k",
        "debezium__database__sslpassword": "sesame too",
    }
    address = address_of(options(**tls), "headwater p")
    tables = (CaptureTable("t", schema("id int", "id"), "public", "orders", "initial"),)
    config = CaptureConfig(address, world.context.folder, "s", "p", tables, after=7)
    back = from_line(to_line(config))
    assert back == config
    assert back.address.password.reveal() == "open sesame"
    assert back.address.tls.settings()["sslpassword"] == "sesame too"
    # Readers of first rows are processes of their own.
    assert pickle.loads(pickle.dumps(address)).tls.settings() == address.tls.settings()
    assert "sesame" not in repr(back)

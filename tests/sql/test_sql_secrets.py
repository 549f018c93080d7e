"""Secrets are used and never shown; references are resolved when they are needed.

Oracle: the secret word itself, which must not be found in anything that can be shown.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.errors import OptionError, Place, SqlError
from headwater.options import Secret, option, read_options
from headwater.sql.interpolate import masked, resolve
from headwater.sql.script import parse_script
from headwater.sql.secrets import looks_secret
from headwater.sql.show import show_create
from headwater.sql.statements import CreateTable, CreateView

WORD = "hunter2"
PLACE = Place("f.sql", 3, 7)


@dataclass(frozen=True)
class Options:
    """The options of a connector that needs a password."""

    password: Secret = option("password", "the password")


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "Password",
        "pasword",
        "passwrd",
        "ssl.key.password",
        "sslpassword",
        "debezium.database.sslpassword",
        "properties.ssl.truststore.password",
        "properties.sasl.jaas.config",
        "secret",
        "client-secret",
        "clientSecret",
        "token",
        "auth.token",
        "credentials",
        "api-key",
        "apiKey",
        "s3.secret-key",
        "s3.access-key",
        "debezium.database.password",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "username",
        "key.format",
        "key.fields",
        "table-name",
        "hostname",
        "scan.startup.mode",
        "topic",
        "port",
        "url",
    ],
)
def test_names_of_what_may_be_shown(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("WITH ('password' = 'hunter2')", "WITH ('password' = '***')"),
        ("WITH ('password'='hunter2','port'='1')", "WITH ('password'='***','port'='1')"),
        ('WITH ("password" = "hunter2")', 'WITH ("password" = "***")'),
        ("('password' =\n  'hunter2')", "('password' =\n  '***')"),
        ("('password' = -- mine\n  'hunter2')", "('password' = -- mine\n  '***')"),
        ("('password' 'hunter2')", "('password' '***')"),
        ("('password' = 'it''s hunter2')", "('password' = '***')"),
        ("('hostname' = 'post, 'password' = 'hunter2')", "('hostname' = 'post, 'password' = '***')"),
        ("('password' = 'hunter2)", "('password' = '***"),
        ("SET x.password = hunter2", "SET x.password = ***"),
        ("SET 'x.password' = 'hunter2'", "SET 'x.password' = '***'"),
        ("'url' = 'postgres://ann:hunter2@db/x'", "'url' = 'postgres://ann:***@db/x'"),
        ("'url' = 'jdbc:postgresql://db/x?user=a&password=hunter2&b=c'", "'url' = 'jdbc:postgresql://db/x?user=a&password=***&b=c'"),
        ("'password' = '${env:PW}'", "'password' = '${env:PW}'"),
        ("'password' = '${env:PW}hunter2'", "'password' = '***'"),
        ("'table-name' = 'tokens', 'port' = '1'", "'table-name' = 'tokens', 'port' = '1'"),
        ("ON a.token = b.token", "ON a.token = b.token"),
        ("SELECT 1", "SELECT 1"),
    ],
)  # fmt: skip
def test_a_text_is_masked_and_otherwise_the_same(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown


def test_options_are_masked() -> None:
    given = {
        "password": WORD,
        "token": Secret(WORD),
        "url": f"x://a:{WORD}@b",
        "secret": "${file:a}",
        "port": "1",
    }
    assert masked(given) == {
        "password": "***",
        "token": "***",
        "url": "x://a:***@b",
        "secret": "${file:a}",
        "port": "1",
    }
    assert masked({"hostname": Secret(WORD)}) == {"hostname": "***"}


BROKEN = [
    "CREATE TABLE t (a INTT) WITH ('connector' = 'x', 'password' = 'hunter2')",
    "CREATE TABLE t WITH ('password' = 'hunter2' 'a' = 'b')",
    "CREATE TABLE t WITH ('password' 'hunter2')",
    "CREATE TABLE t WITH ('password' =\n'hunter2' x)",
    "CREATE TABLE t WITH ('hostname' = 'post, 'password' = 'hunter2')",
    "CREATE TABLE t WITH ('password' = 'hunter2)",
    "CREATE TABLE t WITH ('pasword' = 'hunter2', 'a' = 5)",
    "CREATE TABLE t WITH ('url' = 'x://ann:hunter2@db/x', 'a' = 5)",
    "SET 'password' = 'hunter2' 'b'",
    "SHOW TABELS; SET password = hunter2",
    "CREATE CATALOG c WITH ('type' = 'jdbc', 'password' = 'hunter2') x",
]


@pytest.mark.parametrize("text", BROKEN)
def test_no_error_shows_a_secret(text: str) -> None:
    with pytest.raises(SqlError) as caught:
        parse_script(text)
    said = json.dumps(caught.value.to_json())
    assert WORD not in said
    assert caught.value.place is not None and caught.value.place.text


def test_columns_stay_where_they_are_under_the_mask() -> None:
    with pytest.raises(SqlError) as caught:
        parse_script("CREATE TABLE t WITH ('password' = 'hunter2', oops = 'x')")
    place = caught.value.place
    assert place is not None
    mark = place.mark or place.column
    assert place.text[mark - 1 : mark - 1 + place.width] == "oops"


@pytest.mark.parametrize("word", ["x", WORD, "p" * 40, "two\nlines"])
def test_how_long_a_secret_is_is_not_shown(word: str) -> None:
    script = f"SET 'a.password' = '{word}'; SELECT 1, x FORM t"
    with pytest.raises(SqlError) as caught:
        parse_script(script, "f.sql")
    place = caught.value.place
    assert place is not None
    assert place.text in ("SET 'a.password' = '***'; SELECT 1, x FORM t", "***'; SELECT 1, x FORM t")
    assert place.column == len(script.splitlines()[-1]) - len("FORM t") + 1
    mark = place.mark or place.column
    assert place.text[mark - 1 : mark - 1 + place.width] == "FORM"


def test_show_create_is_the_statement_without_secrets_and_comments() -> None:
    text = """CREATE TABLE t ( -- hunter2
  a INT, /* hunter2 */ b STRING
  -- the password is hunter2
) WITH ('password' = 'hunter2', 'token' = '${env:T}')"""
    (statement,) = parse_script(text)
    assert isinstance(statement, CreateTable)
    assert show_create(statement) == (
        "CREATE TABLE t (\n  a INT, b STRING\n) WITH ('password' = '***', 'token' = '${env:T}')"
    )
    (view,) = parse_script("CREATE VIEW v AS\n  SELECT a -- why\n  FROM t")
    assert isinstance(view, CreateView)
    assert show_create(view) == "CREATE VIEW v AS\n  SELECT a\n  FROM t"


def test_references_become_what_they_stand_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HW_PASSWORD", r"hunter2\1")
    (tmp_path / "user").write_text("ann\n")
    options = {
        "password": "${env:HW_PASSWORD}",
        "url": f"x://${{file:{tmp_path}/user}}:${{env:HW_PASSWORD}}@db",
        "port": "5432",
    }
    found = resolve(options, PLACE)
    assert found == {"password": r"hunter2\1", "url": r"x://ann:hunter2\1@db", "port": "5432"}
    assert WORD not in f"{found} {found['password']} {found['url']!r}"
    assert not isinstance(found["port"], Secret)
    assert options["password"] == "${env:HW_PASSWORD}"


def test_a_resolved_secret_reaches_a_secret_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HW_PASSWORD", WORD)
    for given in ("${env:HW_PASSWORD}", WORD, Secret(WORD)):
        read = read_options(Options, resolve({"password": given}, None), owner="connector 'x'", place=None)
        assert read.password.reveal() == WORD
    assert pickle.loads(pickle.dumps(Secret(WORD))).reveal() == WORD


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("${env:HW_NOT_SET_ANYWHERE}", "refers to the environment variable HW_NOT_SET_ANYWHERE", "Set it"),
        ("${file:/no/such/file}", "refers to the file /no/such/file, which cannot be read", "Give the path"),
        ("${file:/}", "refers to the file /, which cannot be read", "Give the path"),
        ("${vault:x}", "refers to something unknown", "Write ${env:x}"),
        ("${HOME}", "refers to something unknown", "Write ${env:HOME}"),
        ("${env:", "is not complete", "Write ${env:NAME}"),
        ("${env:}", "is not complete", "Write ${env:NAME}"),
        ("a${", "is not complete", "Write ${env:NAME}"),
    ],
)
def test_a_reference_to_nothing_is_an_error(value: str, message: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        resolve({"password": value}, PLACE)
    assert message in caught.value.message and "'password'" in caught.value.message
    assert caught.value.hint.startswith(hint)
    assert caught.value.place == PLACE


def test_a_misspelt_variable_gets_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HW_PASSWORD", WORD)
    with pytest.raises(OptionError) as caught:
        resolve({"password": "${env:HW_PASWORD}"}, PLACE)
    assert caught.value.hint == "Did you mean HW_PASSWORD?"


def test_an_error_points_at_the_option_where_that_is_known() -> None:
    (statement,) = parse_script("CREATE TABLE t WITH (\n  'a' = 'b',\n  'password' = '${env:HW_NOT_SET}')")
    assert isinstance(statement, CreateTable)
    with pytest.raises(OptionError) as caught:
        resolve(statement.options, statement.place, places=statement.option_places)
    assert caught.value.place is not None and caught.value.place.line == 3

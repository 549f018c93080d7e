"""The catalog `'type' = 'jdbc'`: all tables of a server, named as Flink's catalogs of Postgres and MySQL name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.errors import OptionError
from headwater.jdbc_url import POSTGRES, Address, read_url, with_database
from headwater.options import Secret, option, revealed
from headwater.sources.base import CatalogType, Client
from headwater.sources.jdbc.options import KINDS, JdbcSourceOptions, address_of
from headwater.sources.jdbc.plain import client_of
from headwater.sources.jdbc.postgres import DEFAULT_SCHEMA
from headwater.sources.jdbc.reading import moment_of


@dataclass(frozen=True)
class JdbcCatalogOptions:
    """How a server is found."""

    base_url: str = option(
        "base-url",
        "the server, without a database: `jdbc:postgresql://host:port/` or `jdbc:mysql://host:port/`",
    )
    default_database: str = option("default-database", "the database in which USE CATALOG stands")
    username: str = option("username", "who reads", default="")
    password: Secret | None = option("password", "the user's password", default=None)
    version: str = option("property-version", "accepted and without effect", default="1", choices=("1",))

    def __post_init__(self) -> None:
        plain = _plain(self.base_url)
        if plain.rstrip("/").count("/") > 2:
            raise OptionError(
                "option 'base-url' names a database",
                detail="It names only the server; each database of it is a part of the names of tables.",
                hint="End it after the port: 'jdbc:postgresql://host:5432/'.",
            )
        try:
            _address(self, "database")
        except OptionError as problem:
            problem.message = problem.message.replace("'url'", "'base-url'").replace("/database'", "'")
            problem.hint = problem.hint.replace("'url'", "'base-url'").replace("/database'", "/'")
            raise


def databases(options: JdbcCatalogOptions) -> list[str]:
    """The databases of the server."""
    with moment_of(_options(options, options.default_database)) as moment:
        return moment.databases()


def tables(options: JdbcCatalogOptions, database: str) -> list[str]:
    """The tables and views of a database, in Postgres as `schema.table`."""
    with moment_of(_options(options, database)) as moment:
        return moment.tables()


def client(options: JdbcCatalogOptions) -> Client:
    """A connection to the default database, for plain SQL."""
    plain = _options(options, options.default_database)
    return client_of(address_of(plain), plain.password)


def table_name(options: JdbcCatalogOptions, table: str) -> str:
    """The whole name of a table: without a schema, the one in `public` is meant."""
    is_bare = _address(options, "database").kind == POSTGRES and "." not in table
    return f"{DEFAULT_SCHEMA}.{table}" if is_bare else table


def table_options(given: Mapping[str, str], database: str, table: str) -> dict[str, str]:
    """The WITH clause that a table of the catalog would have; references stay references."""
    made = {
        "connector": "jdbc",
        "url": with_database(given["base-url"], database),
        "table-name": table,
    }
    return made | {name: given[name] for name in ("username", "password") if name in given}


def _options(options: JdbcCatalogOptions, database: str) -> JdbcSourceOptions:
    plain = revealed(options)
    return JdbcSourceOptions(
        url=with_database(plain.base_url, _plain(database)),
        table_name="",
        username=plain.username,
        password=plain.password,
    )


def _address(options: JdbcCatalogOptions, database: str) -> Address:
    return read_url(with_database(_plain(options.base_url), database), kinds=KINDS)


def _plain(text: str) -> str:
    return text.reveal() if isinstance(text, Secret) else text


JDBC_CATALOG = CatalogType(
    options=JdbcCatalogOptions,
    default_database=lambda options: _plain(options.default_database),
    databases=databases,
    tables=tables,
    table_name=table_name,
    table_options=table_options,
    client=client,
    words={
        "the name after the last slash of the option 'url'": "the option 'default-database'",
        "'url'": "'base-url'",
    },
)

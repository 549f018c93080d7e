"""Names of one, two and three parts, and what they mean where a session stands.

A script's own tables and views lie in `default_catalog.default_database`; a registered catalog has the tables
that a database already has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headwater.errors import Place, SqlError
from headwater.nearest import nearest

DEFAULT_CATALOG, DEFAULT_DATABASE = "default_catalog", "default_database"


class Name(str):
    """A name as it is written: its parts joined by points, and kept apart in `parts`.

    >>> Name("shop", "public.orders").parts
    ('shop', 'public.orders')
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Name:
        made = super().__new__(cls, ".".join(parts))
        made.parts = parts
        return made


def parts_of(name: str) -> tuple[str, ...]:
    """The parts a name was written in; a text that was never written has one."""
    return name.parts if isinstance(name, Name) else (name,)


@dataclass(frozen=True)
class Outside:
    """A table of a registered catalog: `Outside("postgres", "postgres", "claims.members")`."""

    catalog: str
    database: str
    table: str

    @property
    def name(self) -> str:
        """The one name by which a script knows it."""
        return f"{self.catalog}.{self.database}.{self.table}"


@dataclass
class Session:
    """Where a script stands: the catalogs it registered, and those that USE chose."""

    catalogs: dict[str, str] = field(default_factory=lambda: {DEFAULT_CATALOG: DEFAULT_DATABASE})
    """Each catalog and its default database."""
    catalog: str = DEFAULT_CATALOG
    database: str = DEFAULT_DATABASE

    def copy(self) -> Session:
        """A session that stands at the same place and goes its own way."""
        return Session(dict(self.catalogs), self.catalog, self.database)

    def find(self, catalog: str) -> str | None:
        """A registered catalog as it was spelt; case does not matter."""
        return next((known for known in self.catalogs if known.lower() == catalog.lower()), None)

    def get(self, catalog: str, place: Place | None) -> str:
        """A registered catalog, or an error that names the nearest."""
        found = self.find(catalog)
        if found is None:
            raise self._unknown(catalog, place)
        return found

    def use(self, catalog: str, database: str | None) -> None:
        """Stand in a database of a catalog, or in its default one."""
        self.catalog, self.database = catalog, database or self.catalogs[catalog]

    def meant(
        self, parts: Sequence[str], is_declared: Callable[[str], bool], place: Place | None
    ) -> str | Outside:
        """What a name means: a relation of the script by its name, or a table of a registered catalog.

        What the script declared wins, wherever it stands.
        """
        joined = ".".join(parts)
        if is_declared(joined):
            return joined
        if len(parts) > 2:
            catalog = self.find(parts[0])
            if catalog is None and len(self.catalogs) > 1:
                raise self._unknown(parts[0], place)
            if catalog is None:
                return joined
            return self._inside(catalog, parts[1], ".".join(parts[2:]))
        if len(parts) == 2 and self.catalog == DEFAULT_CATALOG and parts[0].lower() != DEFAULT_DATABASE:
            return joined
        database = parts[0] if len(parts) == 2 else self.database
        return self._inside(self.catalog, database, parts[-1])

    def _inside(self, catalog: str, database: str, table: str) -> str | Outside:
        if catalog != DEFAULT_CATALOG:
            return Outside(catalog, database, table)
        return table if database.lower() == DEFAULT_DATABASE else f"{database}.{table}"

    def _unknown(self, catalog: str, place: Place | None) -> SqlError:
        near = nearest(catalog, self.catalogs)
        return SqlError(
            f'catalog "{catalog}" does not exist',
            detail=f"The catalogs are {', '.join(self.catalogs)}.",
            hint=f'Did you mean "{near}"?'
            if near
            else f"Register it first: CREATE CATALOG {catalog} WITH (...).",
            place=place,
        )

"""A server of MySQL's family on 127.0.0.1: a folder, a port, a row binary log; MySQL and MariaDB say the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headwater.services.mysql_files import (
    PASSWORD,
    SETTINGS,
    SETUP,
    USER,
    answers_query,
    flags,
    make_data,
    write_setup,
)
from headwater.services.ports import free_port
from headwater.services.postgres_files import let_enter, owner_of
from headwater.services.process import Launch, Lifetime, Server


@dataclass(frozen=True)
class Recipe:
    """What tells the members of the family apart: the program and where it lives, how its data folder is made."""

    base: Path
    program: Path
    environ: Mapping[str, str]
    make: list[str]
    """What the program is called with to make a data folder."""
    said: str = ""
    """What it reads meanwhile."""
    settings: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[str, ...] = SETUP
    """Statements for every start."""


class MysqlFamilyServer(Server):
    """One server; the folder keeps its data from one start to the next."""

    user = USER
    password = PASSWORD

    def __init__(
        self,
        folder: Path,
        port: int | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        lifetime: Lifetime | Path = Lifetime.PARENT,
    ) -> None:
        super().__init__(folder, free_port() if port is None else port, lifetime=lifetime)
        self._settings = dict(settings or {})

    def recipe(self) -> Recipe:
        """How this member of the family is made and started; what is missing is fetched."""
        raise NotImplementedError

    def launch(self) -> Launch:
        """Make the data folder if there is none, and say how the server is started."""
        owner = owner_of(self.folder)
        recipe = self.recipe()
        if owner.uid is not None:
            let_enter(recipe.program.parent)
            let_enter(self.folder)
        begin = [str(recipe.program), "--no-defaults", f"--basedir={recipe.base}"]
        make_data(self.folder, [*begin, *recipe.make], owner=owner, environ=recipe.environ, said=recipe.said)
        own = {"port": str(self.port), "datadir": str(self.folder / "data")}
        given = {**SETTINGS, **recipe.settings, **self._settings, **own}
        setup = f"--init-file={write_setup(self.folder, recipe.setup)}"
        return Launch([*begin, *flags(given), setup], dict(recipe.environ), owner.popen())

    def answers(self) -> bool:
        """True if the server lets our user in and answers."""
        return answers_query(self.port)

"""What a session may look at without declaring it: the tables and views of all deployed applications."""

from __future__ import annotations

from sqlglot import exp

from headwater.errors import HeadwaterError, SqlError
from headwater.runtime.conversation import SUBSCRIBED, Known, Query
from headwater.server.asked_again import AskedAgain
from headwater.server.followed import followed
from headwater.server.followed_view import FollowedView
from headwater.server.read_only import Ambiguous, Names, Unknown, read_only
from headwater.server.reader import Relation
from headwater.server.server import Server
from headwater.sql.statements import Subscribe


class Looking:
    """The applications of a server, as its sessions see them."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def known(self) -> Known:
        """The tables and views of all applications."""
        found = self._server.reader.relations()
        columns = {one.full_name: tuple(one.schema.names) for one in found}
        return Known(columns, frozenset(one.full_name for one in found if one.kind == "view"))

    def follow(self, asked: Subscribe, *, once: bool) -> Query:
        """The changes of a view, also those since a cut."""
        try:
            with self._server.reader.held() as held:
                found = followed(self._server, held, asked.name)
            if asked.after is not None:
                found.feed.after(asked.after)
        except HeadwaterError as problem:
            raise SqlError(
                problem.message, detail=problem.detail, hint=problem.hint, place=asked.place
            ) from problem
        view = found.relation.full_name
        return FollowedView(server=self._server, mode=SUBSCRIBED, once=once, view=view, after=asked.after)

    def select(self, query: exp.Query, mode: str, *, once: bool) -> Query | None:
        """What a query gives, again whenever a batch is done; None if it reads nothing of an application."""
        names = Names(self._server.reader.relations())
        if not any(_is_known(table, names) for table in query.find_all(exp.Table)):
            return None
        read = read_only(query, names, "hw_look").views.values()
        pipelines = sorted({relation.pipeline for relation in read})
        if not pipelines:
            return None
        return AskedAgain(server=self._server, mode=mode, once=once, query=query, pipelines=pipelines)


def _is_known(table: exp.Table, names: Names[Relation]) -> bool:
    try:
        names.find(".".join(part.name for part in table.parts))
    except Unknown:
        return False
    except Ambiguous:
        return True
    return True

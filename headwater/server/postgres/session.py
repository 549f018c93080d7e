"""One client's conversation: each message goes to the Postgres behind, and rows of relations come from the reader.

The Postgres behind keeps the session: its settings, its transaction and whether that has failed, what is prepared and
bound. Inside a transaction everything is read at one cut, that of its first query.
"""

from __future__ import annotations

import struct

from headwater.server.postgres.backend import FLUSH, SYNC, Backend
from headwater.server.postgres.kept import Kept
from headwater.server.postgres.kinds import BEHIND, Close, Declare, Fetch, Prepare, Query, Run
from headwater.server.postgres.messages import (
    Body,
    Message,
    Refusal,
    Wire,
    complete,
    error,
    fields_of,
    texts,
)
from headwater.server.postgres.paths import path_of, path_text, schemas
from headwater.server.postgres.portal import Known, Portal, bound
from headwater.server.postgres.problems import told
from headwater.server.postgres.reading import Reading
from headwater.server.postgres.shapes import Shapes
from headwater.server.postgres.statements import Scene, read, split

_NOBODY = Message(b"E", texts("\x01 no such portal") + struct.pack("!i", 0))
"""A message that fails: what fails here must fail behind as well, so that its transaction is over."""

_COPY_FAILS = Message(b"f", texts("nothing can be copied to here"))


class Session:
    """The conversation with a client who has said who it is."""

    def __init__(
        self, client: Wire, backend: Backend, *, reading: Reading, shapes: Shapes, first: str
    ) -> None:
        self._client, self._backend = client, backend
        self._reading, self._shapes = reading, shapes
        self._first = first
        """The schema in which bare names are looked for first."""
        self._kept = Kept(reading)
        self._status = b"I"
        self._is_between = True
        """False from the first message of a series to the end of it."""
        self._skips = False
        """True after an error, until the end of the series."""
        self._own_path = backend.settings["search_path"]

    def run(self) -> None:
        """Answer until the client says goodbye; that it is gone is raised."""
        try:
            while (came := self._client.message()).letter != b"X":
                self._answer(came)
        finally:
            self._kept.close()

    def cancel(self) -> None:
        """Give up what is being worked on; called by another thread."""
        self._kept.given_up.set()
        self._backend.cancel()

    def _answer(self, came: Message) -> None:
        self._kept.given_up.clear()
        match came.letter:
            case b"S":
                self._sync()
            case _ if self._skips:
                return
            case b"Q":
                self._simple(came)
            case b"P" | b"B" | b"D" | b"E" | b"C" | b"F":
                self._step(came)
            case b"H" | b"d" | b"c" | b"f":
                return
            case _:
                raise Refusal("08P01", "a message of an unknown kind came", severity="FATAL")

    def _step(self, came: Message) -> None:
        """One message of a series."""
        if self._is_between:
            self._follow()
            self._is_between = False
        steps = {b"P": self._parse, b"B": self._bind, b"E": self._execute}
        try:
            if came.letter == b"F":
                raise Refusal("0A000", "functions cannot be called in this way", hint="Write a SELECT.")
            steps.get(came.letter, self._pass)(came)
        except Refusal as refusal:
            self._fail(refusal)

    def _pass(self, came: Message) -> None:
        """Describe and Close: the Postgres behind knows all statements and portals, also those over relations."""
        if came.letter == b"C":
            kind, name = came.body[:1], Body(came.body[1:]).text()
            if kind == b"P":
                self._kept.drop(name)
            else:
                self._kept.known.pop(name, None)
        self._backend.send(came, FLUSH)
        self._relay(b"TnE" if came.letter == b"D" else b"3E")

    def _parse(self, came: Message) -> None:
        body = Body(came.body)
        name, text = body.text(), body.text()
        self._backend.send(came, FLUSH)
        if self._relay(b"1E", hide=b"1").letter == b"E":
            return
        self._kept.known[name] = self._described(text, name)
        self._client.send(Message(b"1"))

    def _described(self, text: str, name: str) -> Known:
        """A statement that was parsed behind, with what is known of it there."""
        statement = read(text, self._scene())
        if statement == BEHIND:
            return Known(BEHIND)
        self._backend.send(Message(b"D", b"S" + texts(name)), FLUSH)
        kinds = Body(self._relay(b"tE", hide=b"t").body).numbers("I")
        came = self._relay(b"TnE", hide=b"Tn")
        if came.letter == b"T":
            return Known(statement, kinds, fields_of(came.body))
        # A cursor or a prepared statement that is not there any more: the Postgres behind says so.
        return Known(statement if isinstance(statement, (Declare, Prepare, Close)) else BEHIND, kinds)

    def _bind(self, came: Message) -> None:
        self._backend.send(came, FLUSH)
        if self._relay(b"2E", hide=b"2").letter == b"E":
            return
        body = Body(came.body)
        name, statement = body.text(), body.text()
        known = self._kept.known.get(statement, Known(BEHIND))
        self._kept.put(name, Portal(known) if known.statement == BEHIND else bound(known, body))
        self._client.send(Message(b"2"))

    def _execute(self, came: Message) -> None:
        body = Body(came.body)
        portal, limit = self._kept.portal(body.text()), body.number("i")
        if isinstance(portal.known.statement, (Query, Fetch, Run)):
            self._give(portal, limit if limit > 0 else None)
            return
        made = self._kept.made(portal)
        self._backend.send(came, FLUSH)
        if self._relay(b"CIsE").letter == b"C":
            self._kept.note(portal, made)

    def _give(self, portal: Portal, limit: int | None) -> None:
        """Send the rows of a query, or those that a cursor has next."""
        encoding = self._backend.settings.get("client_encoding", "UTF8")
        if encoding not in ("UTF8", "SQL_ASCII"):
            raise Refusal("0A000", f"rows are not sent in {encoding}", hint="SET client_encoding TO 'UTF8'.")
        given, sent = self._kept.given(portal, limit), 0
        with told(self._kept.given_up):
            for count, packed in given.rows.take(portal.fields, given.limit):
                self._client.send_bytes(packed)
                sent += count
        # A portal of which so many rows were wanted may have more; a cursor is asked again anyway.
        is_over = given.limit is None or sent < given.limit or given.tag == "FETCH"
        self._client.send(complete(f"{given.tag} {sent}") if is_over else Message(b"s"))

    def _simple(self, came: Message) -> None:
        """A text with one or more statements."""
        try:
            text = Body(came.body).text()
            self._follow()
            parts = split(text) if self._scene().is_named(text) else []
            # A text of comments alone is the Postgres' behind, too: it answers also what is empty.
            if not parts:
                self._backend.send(came)
                self._relay(b"Z", hide=b"Z")
            for part in parts:
                if not self._part(part):
                    break
        except Refusal as refusal:
            self._client.send(error(refusal.fields))
        self._end_series()

    def _part(self, text: str) -> bool:
        """One statement of a text; False if it went wrong."""
        portal = made = None
        try:
            self._backend.send(Message(b"P", texts("", text) + b"\0\0"), FLUSH)
            if self._relay(b"1E", hide=b"1").letter == b"1":
                portal = Portal(self._described(text, ""))
                made = self._kept.made(portal)
                if isinstance(portal.known.statement, (Query, Fetch, Run)):
                    self._show(portal.known)
                    portal = None
        except Refusal as refusal:
            self._fail(refusal)
        self._backend.send(SYNC)
        self._relay(b"Z", hide=b"Z")
        if portal is not None and not self._skips:
            self._backend.send(Message(b"Q", texts(text)))
            while self._relay(b"ZE", hide=b"Z").letter == b"E":
                continue
            if not self._skips:
                self._kept.note(portal, made)
        return not self._skips

    def _show(self, known: Known) -> None:
        """Bind a statement without parameters, say what columns it has, and send its rows."""
        self._backend.send(Message(b"B", texts("", "") + bytes(6)), Message(b"D", b"P\0"), FLUSH)
        if self._relay(b"2E", hide=b"2").letter == b"2" and self._relay(b"TE").letter == b"T":
            self._give(Portal(known, fields=known.fields), None)

    def _sync(self) -> None:
        self._backend.send(SYNC)
        self._relay(b"Z", hide=b"Z")
        self._end_series()

    def _end_series(self) -> None:
        if self._status != b"T":
            self._kept.let_go()
        self._skips, self._is_between = False, True
        self._client.send(Message(b"Z", self._status))

    def _fail(self, refusal: Refusal) -> None:
        """Tell what is wrong, and let the series, and the transaction, fail behind as well."""
        self._backend.send(_NOBODY, FLUSH)
        while self._backend.message().letter != b"E":
            continue
        self._client.send(error(refusal.fields))
        self._skips = True

    def _relay(self, until: bytes, hide: bytes = b"") -> Message:
        """Pass on what the Postgres behind says, up to a message of these kinds; some are for us alone."""
        while True:
            came = self._backend.message()
            if came.letter == b"G":
                self._backend.send(_COPY_FAILS)
                continue
            if came.letter == b"Z":
                self._status = came.body
            if came.letter not in hide:
                self._client.send(came)
            if came.letter in until:
                self._skips = self._skips or came.letter == b"E"
                return came

    def _follow(self) -> None:
        """Let the Postgres behind know the relations of now, and look for bare names in all of them."""
        if self._status != b"I":
            return
        relations = self._reading.relations()
        self._shapes.follow(relations)
        path = schemas(relations, self._first)
        if self._backend.settings["search_path"] == self._own_path and path_of(self._own_path) != path:
            self._backend.send(Message(b"Q", texts(f"SET search_path = {path_text(path)}")))
            self._relay(b"Z", hide=b"CZ")
            self._own_path = self._backend.settings["search_path"]

    def _scene(self) -> Scene:
        return self._kept.scene(path_of(self._backend.settings.get("search_path", "")))

"""What is typed and is no SQL: QUIT, CLEAR, HELP, SOURCE 'file', and the short forms of psql."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import UsageError
from headwater.nearest import did_you_mean
from headwater.sql.lexer import lex
from headwater.sql.pieces import Piece, pieces

SHORT_FORMS = {
    "\\d": "tables and views; with a name, its columns",
    "\\dt": "tables",
    "\\dv": "views",
    "\\dj": "jobs",
    "\\i": "run a file",
    "\\?": "this help",
    "\\q": "leave",
}


@dataclass(frozen=True)
class Quit:
    """Leave."""


@dataclass(frozen=True)
class Clear:
    """An empty screen."""


@dataclass(frozen=True)
class Help:
    """What can be typed."""


@dataclass(frozen=True)
class Relations:
    """All tables and views."""


@dataclass(frozen=True)
class Source:
    """Run a file of SQL."""

    file: Path


@dataclass(frozen=True)
class Sql:
    """Another way to write this statement."""

    text: str


Command = Quit | Clear | Help | Relations | Source | Sql

_WORDS: dict[str, Command] = {
    "QUIT": Quit(),
    "EXIT": Quit(),
    "CLEAR": Clear(),
    "HELP": Help(),
}


def command_of(text: str) -> Command | None:
    """The command that a text is, with or without its semicolon; None if it is SQL.

    >>> command_of("quit"), command_of("SOURCE 'a.sql';"), command_of("SELECT 1")
    (Quit(), Source(file=PosixPath('a.sql')), None)
    """
    if text.lstrip().startswith("\\"):
        return _short(text.strip().rstrip(";").rstrip())
    tokens = [token for token in lex(text) if token.raw != ";"]
    if len(tokens) == 1 and tokens[0].upper in _WORDS:
        return _WORDS[tokens[0].upper]
    if tokens and tokens[0].upper == "SOURCE":
        if len(tokens) != 2 or tokens[1].kind != "string":
            raise UsageError("SOURCE takes one file", hint="Write SOURCE 'file.sql';")
        return Source(Path(tokens[1].value))
    return None


def apart(text: str) -> Iterator[Piece]:
    """The statements of a text; a short form is one too, up to the end of its line.

    >>> [piece.text for piece in apart("USE a;\\n\\\\d\\nUSE b;")]
    ['USE a', '\\\\d', 'USE b']
    """
    begin = 0
    while begin < len(text):
        rest, begun = text[begin:], begin
        begin = len(text)
        for piece in pieces(rest):
            start, end = begun + piece.start, begun + piece.end
            if piece.text.startswith("\\"):
                line, _, _ = text[start:].partition("\n")
                begin = start + len(line)
                yield Piece(line, start, begin, is_whole=True)
                break
            yield Piece(piece.text, start, end, piece.is_whole)


def is_command(text: str) -> bool:
    """True if a text is whole without a semicolon."""
    first = next(iter(lex(text)), None)
    if first is None or first.upper == "SOURCE":
        return False
    words = [token for token in lex(text) if token.raw != ";"]
    return text.lstrip().startswith("\\") or (len(words) == 1 and first.upper in _WORDS)


def _short(text: str) -> Command:
    word, _, rest = text.partition(" ")
    rest = rest.strip()
    match word:
        case "\\q":
            return Quit()
        case "\\?" | "\\h":
            return Help()
        case "\\d":
            return Sql(f"DESCRIBE {_name(rest)}") if rest else Relations()
        case "\\dt":
            return Sql("SHOW TABLES")
        case "\\dv":
            return Sql("SHOW VIEWS")
        case "\\dj":
            return Sql("SHOW JOBS")
        case "\\i":
            return Source(_file(rest))
    near = did_you_mean(word, list(SHORT_FORMS), otherwise="\\? lists them.")
    raise UsageError(f"there is no short form {word}", hint=near)


def _file(rest: str) -> Path:
    try:
        words = shlex.split(rest)
    except ValueError:
        words = []
    if len(words) != 1:
        raise UsageError("\\i takes one file", hint="Write \\i file.sql")
    return Path(words[0]).expanduser()


def _name(rest: str) -> str:
    """A name as SQL takes it; one that holds strange letters is quoted."""
    parts = [token for token in lex(rest) if token.raw != "."]
    is_plain = all(token.kind in ("word", "name") for token in parts)
    return rest if is_plain else "`" + rest.replace("`", "``") + "`"

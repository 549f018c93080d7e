"""Whatever people type, they get statements or an SqlError with a place.

Oracle: the type of what is raised, and that the place lies in the text.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.errors import SqlError
from headwater.sql.script import parse_script
from tests.sql.seeds import STATEMENTS

PIECES = [
    *(
        "'",
        '"',
        "`",
        ";",
        ",",
        "(",
        ")",
        "<",
        ">",
        "--",
        "/*",
        "*/",
        "/*+",
        ".",
        "=",
        "::",
        "[",
        "]",
        "{",
        "}",
        "$",
    ),
    *(
        "?",
        ":",
        "@",
        "\\",
        "\n",
        "\r\n",
        "\x00",
        "é",
        "0",
        "1e",
        "0x",
        "x'",
        "${env:",
        "||",
        "=>",
        "->",
        "!",
        "{{",
        "{%",
    ),
    *(
        " SELECT ",
        " FROM ",
        " AS ",
        " WITH ",
        " LIKE ",
        " NOT ",
        " CASE ",
        " OVER ",
        " ROW ",
        " TIMESTAMP ",
        " BEGIN ",
    ),
    *(
        " END ",
        " INTERVAL ",
        " CAST(",
        " LATERAL ",
        " UNNEST(",
        " VALUES ",
        " JSON_VALUE(",
        " PIVOT ",
        " MATCH_RECOGNIZE ",
    ),
    *(
        " CREATE ",
        " TABLE ",
        " PRIMARY KEY ",
        " MAP<",
        " ARRAY<",
        " METADATA ",
        " LIKE t (INCLUDING ",
        " CATALOG ",
        " USE ",
        " SET ",
        " EXPLAIN ",
        " UPDATE ",
        " DELETE ",
    ),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A statement of the seeds, or a few, with pieces cut out, put in and swapped."""
    text = ";\n".join(draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=3)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20, 200])))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text


def check(text: str) -> None:
    try:
        parse_script(text, "f.sql")
    except SqlError as error:
        assert error.message and error.place is not None
        lines = text.split("\n")
        assert 1 <= error.place.line <= len(lines)
        assert 1 <= error.place.column <= len(lines[error.place.line - 1]) + 1
        assert (error.place.mark or error.place.column) <= len(error.place.text) + 1
        assert error.place.width >= 1


@settings(max_examples=3000, deadline=None)
@given(mutated())
def test_mutated_statements_give_statements_or_an_error_with_a_place(text: str) -> None:
    check(text)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "a", " b ", "1", "'x'"]), max_size=15).map("".join))
def test_any_mixture_of_pieces_does_too(text: str) -> None:
    check(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_text_does_too(text: str) -> None:
    check(text)
    check(f"SELECT {text}")


def test_a_query_nested_out_of_all_reason_is_an_error_like_others() -> None:
    check("SELECT " + "(" * 5000 + "1" + ")" * 5000)
    check("SELECT 1 WHERE " + "NOT " * 5000 + "TRUE")

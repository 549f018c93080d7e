"""SQL in colours. Oracle: what each word is, written by hand; and no letter is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cli.client.highlight import SqlLexer

TEXT = "SELECT COUNT(*), `a b` -- why\nFROM t WHERE x = 'y' AND n > 1.5 AND CAST(d AS BIGINT) = slug(x);"


def coloured(text: str) -> list[tuple[str, str]]:
    """Each part with the last word of its kind, blanks left out."""
    found = SqlLexer().get_tokens_unprocessed(text)
    return [(part, str(kind).rpartition(".")[2]) for _, kind, part in found if part.strip()]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("SELECT", "Keyword"),
        ("COUNT", "Function"),
        ("`a b`", "Variable"),
        ("t", "Name"),
        ("'y'", "String"),
        ("1.5", "Number"),
        ("CAST", "Keyword"),
        ("BIGINT", "Type"),
        ("slug", "Function"),
        (";", "Punctuation"),
        ("=", "Operator"),
    ],
)
def test_each_part_has_its_kind(part: str, kind: str) -> None:
    assert (part, kind) in coloured(TEXT)


def test_comments_open_quotes_and_short_forms_have_theirs() -> None:
    assert ("Comment") in [kind for part, kind in coloured(TEXT) if "-- why" in part]
    assert coloured("SELECT 'abc")[-1] == ("'abc", "String")
    assert coloured("\\d clicks") == [("\\d", "Pseudo"), (" clicks", "Text")]


@given(st.text(alphabet="SELECT 'a`\"/*-;\\\n(x1.é", max_size=40))
def test_all_parts_together_are_the_text(text: str) -> None:
    found = list(SqlLexer().get_tokens_unprocessed(text))
    assert "".join(part for _, _, part in found) == text
    assert [start for start, _, part in found if part] == sorted(start for start, _, part in found if part)

"""Tables and states as HTML; every value is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from headwater.cli.cells import NULL, cell_text
from headwater.notebook.style import STYLE

Bundle = dict[str, str]
"""One thing in the forms in which it can be shown, by mime type."""


class Word(str):
    """A state, shown in its colour."""


def bundle(html: Sequence[str], text: Sequence[str]) -> Bundle:
    """An area in both forms."""
    inside = "".join(part for part in html if part)
    return {
        "text/html": f'{STYLE}<div class="hw">{inside}</div>',
        "text/plain": "\n".join(part for part in text if part),
    }


def table_html(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    right: Sequence[bool],
    news: Sequence[Sequence[bool]] = (),
) -> str:
    """A table; cells that are news flash once."""
    head = "".join(
        f"<th{_class('hw-right' if is_right else '')}>{escape(name)}</th>"
        for name, is_right in zip(names, right, strict=True)
    )
    body = []
    for number, row in enumerate(rows):
        marks = news[number] if number < len(news) else [False] * len(row)
        cells = [_cell(*cell) for cell in zip(row, right, marks, strict=True)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="hw-wide"><table class="hw-table"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(value: Any, is_right: bool, is_new: bool) -> str:
    text = cell_text(value)
    marks = [("hw-right", is_right), ("hw-null", value is None and text == NULL), ("hw-new", is_new)]
    classes = " ".join(name for name, holds in marks if holds)
    title = f' title="{escape(text)}"' if len(text) > 36 else ""
    inside = word_html(text) if isinstance(value, Word) else escape(text)
    return f"<td{_class(classes)}{title}>{inside}</td>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def word_html(word: str) -> str:
    """A state in its colour."""
    return f'<span class="hw-word hw-{escape(word)}">{escape(word)}</span>'


def state_html(word: str, facts: Sequence[tuple[str, str]]) -> str:
    """The small line over an area: a state, and what there is to say of it."""
    said = "".join(
        f"<span><i>{escape(name)}</i><b class='hw-cut' title='{escape(value)}'>{escape(value)}</b></span>"
        for name, value in facts
    )
    return f'<div class="hw-state">{word_html(word)}{said}</div>'


def note_html(text: str) -> str:
    """A remark."""
    return f'<div class="hw-note">{escape(text)}</div>' if text else ""


def error_html(text: str) -> str:
    """What went wrong, as it is."""
    return f'<pre class="hw-error">{escape(text)}</pre>' if text else ""


def pre_html(text: str) -> str:
    """Text whose lines and columns count."""
    return f"<pre>{escape(text)}</pre>" if text else ""

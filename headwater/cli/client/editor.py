"""Where statements are typed: several lines, colours, completion, history."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import Style

from headwater.cli.client.commands import is_command
from headwater.cli.client.complete import complete
from headwater.cli.client.highlight import STYLE, SqlLexer
from headwater.errors import HeadwaterError
from headwater.runtime.conversation import Known
from headwater.sql.pieces import is_finished

PROMPT = "headwater> "
CONTINUED = "      ...> "

LOOK = Style.from_dict(
    {
        **STYLE,
        "prompt": "ansicyan bold",
        "continuation": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
        "auto-suggestion": "ansibrightblack",
        "completion-menu.completion": "bg:ansibrightblack ansiwhite",
        "completion-menu.completion.current": "noreverse bg:ansicyan ansiblack",
        "completion-menu.meta.completion": "bg:ansibrightblack ansigray",
        "completion-menu.meta.completion.current": "noreverse bg:ansicyan ansiblack",
        "scrollbar.background": "bg:ansibrightblack",
        "scrollbar.button": "bg:ansigray",
    }
)


class SqlCompleter(Completer):
    """Offers what `complete` finds, in the light of what the session knows."""

    def __init__(self, known: Callable[[], Known]) -> None:
        self._known = known

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What may stand at the cursor."""
        try:
            known = self._known()
        except HeadwaterError:
            known = Known()
        for one in complete(document.text, document.cursor_position, known):
            shown = one.text.removesuffix("' = '").removesuffix("'")
            yield Completion(one.text, -one.back, display=shown, display_meta=one.about)


class Editor:
    """Reads one text after the other; each is whole: it ends with a semicolon, or is a command."""

    def __init__(self, known: Callable[[], Known], history: History, toolbar: Callable[[], str]) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=history,
            completer=SqlCompleter(known),
            complete_while_typing=False,
            complete_in_thread=True,
            auto_suggest=AutoSuggestFromHistory(),
            lexer=PygmentsLexer(SqlLexer, sync_from_start=True),
            style=LOOK,
            include_default_pygments_style=False,
            multiline=True,
            prompt_continuation=_continued,
            key_bindings=_keys(),
            bottom_toolbar=lambda: f" {toolbar()}",
            enable_open_in_editor=True,
            refresh_interval=1.0,
            reserve_space_for_menu=8,
        )

    def read(self) -> str:
        """What was typed; Ctrl-C raises KeyboardInterrupt, Ctrl-D EOFError."""
        return self._session.prompt([("class:prompt", PROMPT)])


def _continued(width: int, line: int, wraps: int) -> AnyFormattedText:
    return [("class:continuation", CONTINUED)]


@Condition
def _is_whole() -> bool:
    text = get_app().current_buffer.text
    return not text.strip() or is_command(text) or is_finished(text)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter", filter=_is_whole & ~has_completions)
    def run(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("enter", filter=has_completions)
    def choose(event: KeyPressEvent) -> None:
        """What is chosen stands already; only the menu goes."""
        event.current_buffer.complete_state = None

    @keys.add("tab")
    def offer(event: KeyPressEvent) -> None:
        """Complete what all that fits begins with, else offer it; at the begin of a line, indent."""
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_next()
        elif not buffer.document.current_line_before_cursor.strip() and buffer.text.strip():
            buffer.insert_text("  ")
        else:
            buffer.start_completion(insert_common_part=True)

    return keys

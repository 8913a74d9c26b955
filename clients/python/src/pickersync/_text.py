"""Text that somebody else wrote, made safe to show on a terminal or in a log."""

from __future__ import annotations

#: Longer text is cut in messages.
SHOWN_CHARACTERS_MAX = 2000


def shown(text: object, limit: int = SHOWN_CHARACTERS_MAX) -> str:
    """One line of text in which control and formatting characters are written as escapes.

    An escape sequence of a terminal, a line break, a bidirectional override and half a surrogate
    pair come out as `\\x1b`, `\\n`, `\\u202e` and `\\ud800`.
    """
    whole = text if isinstance(text, str) else str(text)
    line = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii")
        for one in whole[:limit])
    return line + "…" if len(whole) > limit else line

"""Texts that harm a terminal, and what is left of them where nothing may be."""

import re

# Definitions refuse control characters (a client refuses such a definition whole), so that their
# labels have what is left: bidirectional controls, separators, what draws over its neighbours.
TEXT = ("\u202Erlo\u202C \u2066lri\u2069 \u200Flrm \u061C line\u2028sep\u2029 "
        "e\u0301\u0301\u0301\u0301 \u0301alone \uFEFF \U000E0041 z\u200Dw")
# Values, names and errors come from a daemon that may be anything.
WORST = TEXT + ("\x1b[666m \x1b]0;title\x07 \x1b]52;c;cHduZWQ=\x1b\\ \x1bP+q\x1b\\ \x9b666m \x9d0;t\x9c "
                "\x00 \x07 \x08 \x0b \x0c \x0e \x0f \x7f \x85 \x90 \x1b(0 \x1bc \r overwritten")

OURS = re.compile(
    # CSI with the finals and parameters that we write, and our one question as an OSC.
    rb"\x1b\[[0-9;]*[ABCDGHJKm]|\x1b\[\?(?:1049|1002|1006|2004|2026|7|25)[hl]"
    rb"|\x1b\[\?2026\$p|\x1b\[\?u|\x1b\[>25u|\x1b\[<u|\x1b\[6n|\x1b\[c|\x1b\]11;\?\x1b\\")


def harmful(raw, may_move):
    """What is left of a terminal's bytes that must not be there."""
    text = OURS.sub(b"", raw).decode("utf-8", "surrogateescape")
    allowed = "\n\r" + ("\x08" if may_move else "")
    found = set()
    for character in text:
        code = ord(character)
        if (code < 0x20 and character not in allowed) or 0x7F <= code <= 0x9F \
                or code in (0x061C, 0x200E, 0x200F) or 0x2028 <= code <= 0x202E \
                or 0x2066 <= code <= 0x2069 or 0xD800 <= code <= 0xDFFF:
            found.add(f"U+{code:04X}")
    if b"\x1b[666" in raw:
        found.add("a naughty sequence as it is")
    return found

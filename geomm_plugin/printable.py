r"""Words are data on a terminal, too: what is not printable is shown escaped.

A vocabulary may hold anything: escape sequences that recolor, retitle or answer for a terminal,
controls that turn the direction of the text around, line breaks. They are shown as Python's repr
shows them: \x1b, \u202e. The two joiners stay, since words of Persian and of many languages of
India are spelt with them, and they change nothing but the shape of letters.
"""

from __future__ import annotations

import json
import shutil
import sys

JOINERS = "\u200c\u200d"


def printable(text: str, keep: str = "") -> str:
    """Return a text with what is not printable escaped as repr() does it.

    Parameters
    ----------
    keep
        Characters that stay as they are, such as the line breaks of a table.
    """
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c, keep) else repr(c)[1:-1] for c in text)


def printable_json(text: str) -> str:
    """Return JSON with what is not printable escaped in JSON's own way: the values are the same."""
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c, keep="\n") else json.dumps(c)[1:-1] for c in text)


def _is_harmless(character: str, keep: str) -> bool:
    return character.isprintable() or character in JOINERS or character in keep


def terminal_width() -> int | None:
    """Return how many columns the terminal has; None where standard output is none."""
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None
    return shutil.get_terminal_size().columns if is_terminal else None

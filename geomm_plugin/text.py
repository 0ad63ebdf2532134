r"""Words are data, on a terminal and in HTML, too: what is not printable is shown escaped.

A vocabulary may hold anything: escape sequences that recolor, retitle or answer for a terminal,
controls that turn the direction of the text around, line breaks. They are shown as Python's repr
shows them: \x1b, \u202e. The two joiners stay, since words of Persian and of many languages of
India are spelt with them, and they change nothing but the shape of letters.
"""

from __future__ import annotations

import html
import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

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


def fold(text: str) -> str:
    """Return a text without case and accents: "Café" becomes "cafe"."""
    if text.isascii():
        return text.lower()
    # Decomposed twice: compatibility characters contain letters, and casefold composes new ones.
    folded = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _is_harmless(character: str, keep: str) -> bool:
    return character.isprintable() or character in JOINERS or character in keep


def escaped(text: str) -> str:
    """Return a text for HTML; bytes that were not UTF-8 are shown as such."""
    return html.escape(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def html_table(header: Sequence[str], lines: Iterable[Sequence[str]], title: str = "") -> str:
    """Return a small table for notebooks, in which every text is escaped."""
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in line)}</tr>" for line in lines
    )
    caption = f"<caption>{escaped(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def terminal_width() -> int | None:
    """Return how many columns the terminal has; None where standard output is none."""
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None
    return shutil.get_terminal_size().columns if is_terminal else None

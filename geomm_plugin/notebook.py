"""What objects look like in a notebook: a small table of HTML in which every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def html_table(header: Sequence[str], lines: Iterable[Sequence[str]], title: str = "") -> str:
    """Return a table of HTML; bytes that were not UTF-8 are shown as such."""
    head = "".join(f"<th>{_escaped(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{_escaped(cell)}</td>' for cell in line)}</tr>" for line in lines
    )
    caption = f"<caption>{_escaped(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    return html.escape(text.encode("utf-8", "backslashreplace").decode("utf-8"))

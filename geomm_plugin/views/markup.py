"""HTML and SVG in which every text is escaped, since only `tag` makes markup.

Words come from files, and `<script>` is a word in real ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeAlias

from geomm_plugin.text import escaped

VOID = {"br", "hr", "link", "meta", "input", "wbr"}  # elements that have no end


class Markup(str):
    """Text that is markup already; any other text is escaped when a tag takes it in."""

    __slots__ = ()


Content: TypeAlias = "str | float | Markup | Iterable[Content]"
Attribute: TypeAlias = "str | float | bool | None"


def tag(name: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """Return an element. A trailing underscore is dropped: class_="wide"; others become hyphens.

    An attribute that is None or False is left out.
    """
    opening = "".join([f"<{name}", *_attributes(attributes), ">"])
    return Markup(opening if name in VOID else f"{opening}{join(content)}</{name}>")


def join(content: Iterable[Content]) -> Markup:
    """Return pieces of content one after the other, escaped where they are no markup."""
    return Markup("".join(map(_piece, content)))


def data_block(identifier: str, value: object) -> Markup:
    """Return data for the page's script; no text in it can end the element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escaped(identifier)}">{text}</script>')


def _attributes(attributes: dict[str, Attribute]) -> list[str]:
    return [
        f" {name.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{_attribute(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    ]


def _attribute(value: Attribute) -> str:
    return f"{value:.5g}" if isinstance(value, float) else escaped(str(value))


def _piece(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, (str, int, float)):
        return escaped(str(content))
    return join(content)

"""[read] JSON that others wrote: in UTF-8, each name once, nested no deeper than anyone needs."""

from __future__ import annotations

import json
from typing import Any

_DEEPEST = 100  # levels: whoever walks through it by recursion is safe


def parse_json(content: bytes | str) -> Any:
    """Parse JSON; whatever is wrong with it is a ValueError that says so."""
    text = content if isinstance(content, str) else content.decode("utf-8")
    try:
        value = json.loads(text, object_pairs_hook=_each_name_once)
    except RecursionError:
        raise _too_deep() from None
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            part
            for whole in level
            if isinstance(whole, (dict, list))
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError("its lists and objects are nested too deeply")


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"it has {name[:60]!r} twice")
        found[name] = value
    return found

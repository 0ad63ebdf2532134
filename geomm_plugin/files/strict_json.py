"""[read] JSON that others wrote: in UTF-8, each name once, nested at most 100 levels deep."""

from __future__ import annotations

import json
from typing import Any

_MAX_DEPTH = 100  # levels, so that code may walk through it by recursion


def parse_json(content: bytes | str) -> Any:
    """Parse JSON; a ValueError says what is wrong with it."""
    text = content if isinstance(content, str) else content.decode("utf-8")
    try:
        value = json.loads(text, object_pairs_hook=_each_name_once)
    except RecursionError:
        raise _too_deep() from None
    level = [value]
    for _ in range(_MAX_DEPTH):
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
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"it has {name[:60]!r} twice")
        values[name] = value
    return values

"""TOML, written: keys, texts, numbers and arrays of them; tomllib reads them back equal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from geomm_plugin.errors import ParameterError
from geomm_plugin.text import printable

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_line(key: str, value: Any) -> str:
    """Return `key = value`."""
    return f"{toml_key(key)} = {toml_value(value)}"


def toml_table(name: str, table: Mapping[str, Any]) -> str:
    """Return a table: its name in brackets, then a line for each key."""
    return "\n".join([f"[{toml_key(name)}]", *(toml_line(*item) for item in table.items())])


def toml_key(key: str) -> str:
    """Return a key, in quotes if it needs them."""
    return key if _BARE_KEY.fullmatch(key) else toml_value(key)


def toml_value(value: Any) -> str:
    """Return a text, a number, true or false, or an array of these."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if not isinstance(value, (str, PurePath)):
        raise TypeError(f"TOML has no {type(value).__name__}.")
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParameterError(
            f"A configuration is UTF-8, and '{printable(text)}' is not; rename the file."
        ) from error
    quoted = json.dumps(text, ensure_ascii=False)  # escapes quotes, backslashes and line breaks
    return "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"

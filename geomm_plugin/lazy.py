"""Doors of rooms: a public name is loaded when it is first asked for (PEP 562).

So that one mapper, one format or one retrieval loads what it needs, not the whole package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names_of(room: str, names_in: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room, given the names that each of its modules defines."""
    module_of = {name: module for module, names in names_in.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(f"{room}.{module_of[name]}"), name)
        setattr(sys.modules[room], name, value)
        return value

    return load

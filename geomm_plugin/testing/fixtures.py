"""pytest fixtures for authors of plugins; name this module in conftest.py:

pytest_plugins = ["geomm_plugin.testing.fixtures"]

def test_my_mapper_is_found(registered):
    registered(my_package)
    assert get_mapper("mine").fit(...)
"""  # noqa: D400, D415

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from geomm_plugin import registry
from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.testing import Toy, make_toy

Register: TypeAlias = Callable[[object], None]


@pytest.fixture
def toy_languages() -> Toy:
    """Two small made-up languages with a dictionary; word 7 of one is word 7 of the other."""
    return make_toy()


@pytest.fixture(scope="session")
def demo_languages() -> Demo:
    """Return the real vectors and dictionaries that come with the package (en, es, it)."""
    return load_demo()


@pytest.fixture
def registered() -> Iterator[Register]:
    """Register plugins (modules or objects with hooks) for the time of a test."""
    added: list[object] = []

    def register(plugin: object) -> None:
        if not registry.plugins.manager.is_registered(plugin):  # by its entry point
            registry.plugins.register(plugin)
            added.append(plugin)

    yield register
    for plugin in reversed(added):
        registry.plugins.unregister(plugin)

"""The hooks of a plugin: each returns what it contributes and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from geomm_plugin.embeddings import Embeddings
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.task import Task
    from geomm_plugin.fitting.seeds import Seed
    from geomm_plugin.formats import Format
    from geomm_plugin.mapper import Mapper
    from geomm_plugin.retrieval import Feature, Retrieval

PROJECT = "geomm_plugin"  # also the entry-point group
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_mappers() -> Iterable[type[Mapper]]:
    """Mapper classes, each found under its name."""
    return ()


@hookspec
def register_seeds() -> Iterable[type[Seed]]:
    """Pairs of words from no dictionary, to start self-learning with, found by name."""
    return ()


@hookspec
def register_formats() -> Iterable[type[Format]]:
    """File formats to read and write, found by name and suffix."""
    return ()


@hookspec
def register_retrievals() -> Iterable[type[Retrieval]]:
    """Scores that rank target words, found by name."""
    return ()


@hookspec
def register_metrics() -> Iterable[Metric]:
    """Numbers made from the ranks of correct translations."""
    return ()


@hookspec
def register_tasks() -> Iterable[type[Task]]:
    """What an aligned space can be scored on, found by name."""
    return ()


@hookspec
def register_features() -> Iterable[type[Feature]]:
    """Numbers of pairs of words that a re-ranking may use."""
    return ()


@hookspec(firstresult=True)
def to_embeddings(source: object) -> Embeddings | None:
    """Convert your library's object; None if it is not yours."""

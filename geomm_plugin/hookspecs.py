"""The hooks of a plugin: each returns what it contributes and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from geomm_plugin.embeddings import Embeddings
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.task import Task
    from geomm_plugin.formats import Format
    from geomm_plugin.mapper import Mapper
    from geomm_plugin.retrieval import Feature, Retrieval

PROJECT = "geomm_plugin"  # also the entry-point group
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_mappers() -> Iterable[type[Mapper]]:  # type: ignore[empty-body]
    """Mapper classes, each found under its name."""


@hookspec
def register_formats() -> Iterable[type[Format]]:  # type: ignore[empty-body]
    """File formats to read and write, found by name and suffix."""


@hookspec
def register_retrievals() -> Iterable[type[Retrieval]]:  # type: ignore[empty-body]
    """Scores that rank target words, found by name."""


@hookspec
def register_metrics() -> Iterable[Metric]:  # type: ignore[empty-body]
    """Numbers made from the ranks of correct translations."""


@hookspec
def register_tasks() -> Iterable[type[Task]]:  # type: ignore[empty-body]
    """What an aligned space can be scored on, found by name."""


@hookspec
def register_features() -> Iterable[type[Feature]]:  # type: ignore[empty-body]
    """Numbers of pairs of words that a re-ranking may use."""


@hookspec(firstresult=True)
def to_embeddings(source: object) -> Embeddings | None:
    """Convert your library's object; None if it is not yours."""

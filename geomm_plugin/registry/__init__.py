"""Everything that is registered, by name: mappers, seeds, formats, retrievals and so on.

Built-in and third-party plugins come through the same hooks, on the first look-up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from geomm_plugin.registry.catalog import Catalog
from geomm_plugin.registry.parameters import check_known, parameters_of
from geomm_plugin.registry.plugins import Plugins

if TYPE_CHECKING:
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.task import Task
    from geomm_plugin.fitting.seeds import Seed
    from geomm_plugin.formats import Format
    from geomm_plugin.mapper import Mapper
    from geomm_plugin.retrieval import Feature, Retrieval

__all__ = [
    "as_mapper",
    "as_retrieval",
    "features",
    "formats",
    "get_mapper",
    "mappers",
    "metrics",
    "plugins",
    "retrievals",
    "seeds",
    "tasks",
]

plugins = Plugins()
mappers: Catalog[type[Mapper]] = Catalog("mapper", "geomm_plugin.mapper:Mapper", plugins)
seeds: Catalog[type[Seed]] = Catalog("seed", "geomm_plugin.fitting.seeds:Seed", plugins)
formats: Catalog[type[Format]] = Catalog("format", "geomm_plugin.formats:Format", plugins)
retrievals: Catalog[type[Retrieval]] = Catalog(
    "retrieval", "geomm_plugin.retrieval:Retrieval", plugins
)
features: Catalog[type[Feature]] = Catalog("feature", "geomm_plugin.retrieval:Feature", plugins)
metrics: Catalog[Metric] = Catalog(
    "metric", "geomm_plugin.evaluation.metrics:Metric", plugins, classes=False
)
tasks: Catalog[type[Task]] = Catalog("task", "geomm_plugin.evaluation.task:Task", plugins)


def get_mapper(name: str, **params: Any) -> Mapper:
    """Make the mapper registered under a name, e.g. get_mapper("geomm", regularization=100)."""
    mapper_class = mappers[name]
    known = parameters_of(mapper_class)
    for param in params:
        check_known(name, param, known)
    return mapper_class(**params)


def as_mapper(choice: str | Mapper, settings: Iterable[str] = ()) -> Mapper:
    """Return a mapper itself, or make one from a text: "geomm", "geomm:regularization=100".

    Parameters
    ----------
    settings
        Further texts PARAMETER=VALUE for a mapper that is made; those of the choice itself win.
    """
    mapper: Mapper = mappers.make(choice, settings)
    return mapper


def as_retrieval(choice: str | Retrieval) -> Retrieval:
    """Return a retrieval itself, or make one from a text: "csls", "csls:k=5"."""
    retrieval: Retrieval = retrievals.make(choice)
    return retrieval

"""[evaluate] Which mappers take part: names, texts or objects, each with a label of its own."""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin import registry
from geomm_plugin.errors import ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_mapper
from geomm_plugin.registry.parameters import (
    changed_parameters,
    parameters_of,
    split_choice,
    split_specs,
)

ALL = "all"


def choose_mappers(
    mappers: str | Mapper | Iterable[str | Mapper], settings: Iterable[str] = ()
) -> list[Mapper]:
    """Return mappers from names, texts such as "geomm:regularization=100", or objects.

    Parameters
    ----------
    mappers
        "all" stands for every registered mapper that is not named as well.
    settings
        Texts PARAMETER=VALUE for all mappers made from texts that have such a parameter.
    """
    choices = [mappers] if isinstance(mappers, str | Mapper) else list(mappers)
    if ALL in choices:
        place = choices.index(ALL)
        rest = [name for name in registry.mappers if name not in choices]
        choices[place:] = rest + [choice for choice in choices[place:] if choice != ALL]
    unused = split_specs(settings, "NAME=VALUE, e.g. regularization=100")
    common = dict(unused)
    chosen = []
    for choice in choices:
        own: list[str] = []
        if isinstance(choice, str):
            known = parameters_of(registry.mappers[split_choice(choice)[0]])
            own = [f"{name}={text}" for name, text in common.items() if name in known]
            unused = {name: text for name, text in unused.items() if name not in known}
        chosen.append(as_mapper(choice, own))
    for unknown in unused:
        raise ParameterError(f"None of the mappers has a parameter {unknown!r}. Leave it out.")
    return chosen


def label_mappers(mappers: str | Mapper | Iterable[str | Mapper]) -> dict[str, Mapper]:
    """Give each mapper a label: its name, and the parameters that are not the default."""
    labelled: dict[str, Mapper] = {}
    for mapper in choose_mappers(mappers):
        changed = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value!r}"
            for name, value in changed_parameters(mapper).items()
        ]
        label = f"{mapper.name}({', '.join(changed)})" if changed else mapper.name
        if label in labelled:
            raise ParameterError(f"The mapper {label} is given twice. Leave one out.")
        labelled[label] = mapper
    if not labelled:
        raise ParameterError("There is no mapper to compare. Name at least one.")
    return labelled

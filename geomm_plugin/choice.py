"""[registry] What is chosen by a text: `geomm`, `geomm:regularization=100`, `csls:k=5`."""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin import registry
from geomm_plugin.errors import ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.parameters import parse_settings
from geomm_plugin.registry import get_mapper


def choose_mapper(choice: str, settings: Iterable[str] = ()) -> Mapper:
    """Make a mapper from NAME:PARAMETER=VALUE,... and further PARAMETER=VALUE texts."""
    name, own = split_choice(choice)
    texts = split_specs(settings, "NAME=VALUE, e.g. regularization=100")
    return get_mapper(name, **parse_settings(registry.mappers[name], texts | own))


def split_choice(choice: str) -> tuple[str, dict[str, str]]:
    """Read NAME:PARAMETER=VALUE,PARAMETER=VALUE; a value may hold commas itself."""
    name, _, rest = choice.partition(":")
    settings: list[str] = []
    for part in rest.split(",") if rest else []:
        if "=" in part or not settings:
            settings.append(part)
        else:
            settings[-1] += f",{part}"
    return name, split_specs(settings, "NAME:PARAMETER=VALUE, e.g. geomm:regularization=100")


def split_specs(specs: Iterable[str], form: str) -> dict[str, str]:
    """Read several NAME=VALUE texts, each name once."""
    found: dict[str, str] = {}
    for spec in specs:
        name, value = split_spec(spec, form)
        if name in found:
            raise ParameterError(f"{name!r} is given twice: {found[name]} and {value}. Keep one.")
        found[name] = value
    return found


def split_spec(spec: str, form: str) -> tuple[str, str]:
    """Read NAME=VALUE."""
    name, equals, value = spec.partition("=")
    if not (name and equals and value):
        raise ParameterError(f"{spec!r} is not understood; write {form}.")
    return name, value

"""Parameters of mappers and retrievals: read from their types, checked, and parsed from text.

Types and bounds are the annotations of the constructor: `float | Literal["auto"]`, `int | None`,
`Annotated[float, AtLeast(0)]`, `tuple[str, ...]`.
"""

from __future__ import annotations

import inspect
import math
import re
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal

from geomm_plugin.errors import ParameterError, did_you_mean

USUAL = {"lambda": "regularization", "lam": "regularization"}  # in papers


@dataclass(frozen=True)
class AtLeast:
    """A bound for Annotated[float, AtLeast(0)]."""

    bound: float

    def __str__(self) -> str:
        return f" of at least {self.bound:g}"


@dataclass(frozen=True)
class Within:
    """Bounds for Annotated[float, Within(0, 1)]."""

    low: float
    high: float

    def __str__(self) -> str:
        return f" from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a constructor."""

    name: str
    annotation: Any
    default: Any

    def __str__(self) -> str:
        return f"{self.name}={_text_of(self.default)}"  # as it is typed


def parameters_of(owner: type) -> dict[str, Parameter]:
    """List the constructor's parameters, in its order."""
    constructor: Any = inspect.getattr_static(owner, "__init__")
    signature = inspect.signature(constructor)
    hints = _hints(constructor) | _hints(owner)
    return {
        name: Parameter(
            name,
            hints.get(name, _kind_of(parameter.default)),
            None if parameter.default is parameter.empty else parameter.default,
        )
        for name, parameter in list(signature.parameters.items())[1:]
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }


def _kind_of(default: Any) -> Any:
    """Guess the type of a parameter without annotation from its default."""
    if isinstance(default, bool | int | float | str):
        return float | int if type(default) is int else type(default)
    if isinstance(default, tuple) and default:
        return types.GenericAlias(tuple, (_kind_of(default[0]), ...))
    return None | Any if default is None else Any


def _hints(owner: Any) -> dict[str, Any]:
    """Evaluate the annotations of a class (field by field of its bases) or of a function."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError:  # imported for type checkers only, or defined in another module
        return {}


def check_parameters(owner: object) -> None:
    """Refuse a value that the parameter's type does not allow."""
    for name, parameter in parameters_of(type(owner)).items():
        value = getattr(owner, name)
        if not _fits(value, parameter.annotation):
            label = getattr(owner, "name", type(owner).__name__)
            raise ParameterError(
                f"{label}: {name}={value!r} is not possible; "
                f"{name} takes {_describe(parameter.annotation)}."
            )


def changed_parameters(owner: object) -> dict[str, Any]:
    """Return the parameters whose values are not the default."""
    known = parameters_of(type(owner))
    values = {name: getattr(owner, name) for name in known}
    return {name: value for name, value in values.items() if value != known[name].default}


def parse_settings(owner: type, settings: Mapping[str, str]) -> dict[str, Any]:
    """Turn name=value texts of the command line into the values the parameters take."""
    known = parameters_of(owner)
    label = getattr(owner, "name", owner.__name__)
    values = {}
    for name, text in settings.items():
        check_known(label, name, known)
        annotation = known[name].annotation
        is_valid, value = _parse(text, annotation)
        if not is_valid:
            raise ParameterError(
                f"{label}: {name}={text} is not possible; {name} takes {_describe(annotation)}."
            )
        values[name] = value
    return values


def check_known(label: str, name: str, known: Collection[str]) -> None:
    """Refuse a parameter name that does not exist."""
    if name not in known:
        raise ParameterError(
            f"{label!r} has no parameter {name!r}.{did_you_mean(USUAL.get(name, name), known)} "
            f"It has: {', '.join(known)}."
        )


def options_of(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _fits(value: Any, annotation: Any) -> bool:
    return any(_fits_one(value, option) for option in options_of(annotation))


def _fits_one(value: Any, option: Any) -> bool:
    origin, arguments = typing.get_origin(option), typing.get_args(option)
    if origin is Annotated:
        return _fits(value, arguments[0]) and all(is_within(value, a) for a in arguments[1:])
    if origin is Literal:
        return any(value is choice or value == choice for choice in arguments)
    if origin is tuple:
        return isinstance(value, (tuple, list)) and all(_fits(v, arguments[0]) for v in value)
    if option is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if option is float:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if option is list:
        return isinstance(value, (tuple, list))  # a saved list is loaded as a tuple
    option = origin or option
    return option is Any or not isinstance(option, type) or isinstance(value, option)


def is_within(value: Any, bound: Any) -> bool:
    """True if a value keeps a bound; whatever else stands in Annotated bounds nothing."""
    if isinstance(bound, AtLeast):
        return bool(value >= bound.bound)
    return not isinstance(bound, Within) or bool(bound.low <= value <= bound.high)


def _parse(text: str, annotation: Any) -> tuple[bool, Any]:
    """Try the options in order; the first whose value fits wins."""
    for option in options_of(annotation):
        kind = typing.get_args(option)[0] if typing.get_origin(option) is Annotated else option
        for candidate in _possible_values(text, kind):
            if _fits_one(candidate, option):
                return True, candidate
    return False, None


def _possible_values(text: str, kind: Any) -> list[Any]:
    """Return the values that a text may stand for, if a value of this type is wanted."""
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        parts = [_parse(part.strip(), element) for part in text.split(",") if part.strip()]
        is_valid = all(fits for fits, _ in parts)
        return [tuple(value for _, value in parts)] if is_valid else []
    if kind is types.NoneType:
        return [None] if text.lower() == "none" else []
    if kind is bool:
        return [{"true": True, "yes": True, "false": False, "no": False}.get(text.lower())]
    numbers: list[Any] = []
    if (number := plain_number(text)) is not None:
        is_whole = kind is not float and _WHOLE_NUMBER.fullmatch(text)
        numbers = [int(text), number] if is_whole else [number]
    return [*numbers, text]


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,4000}", re.ASCII)


def plain_number(text: str) -> float | None:
    """Return the finite number that a text in ASCII digits stands for, or None.

    Python's float() also takes 1_0, digits of other scripts, spaces, nan and infinity.
    """
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _describe(annotation: Any) -> str:
    """Say in words what a parameter takes."""
    words = [_describe_one(option) for option in options_of(annotation)]
    return " or ".join(words)


def _describe_one(option: Any) -> str:
    origin, arguments = typing.get_origin(option), typing.get_args(option)
    if origin is Annotated:
        return _describe(arguments[0]) + "".join(str(bound) for bound in arguments[1:])
    if origin is Literal:
        return " or ".join(repr(choice) for choice in arguments)
    if origin is tuple:
        return f"several of: {_describe(arguments[0])}"
    names = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
    names[types.NoneType] = "None"
    return names.get(option, getattr(option, "__name__", str(option)))


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


def choice_text(owner: object) -> str:
    """Return the text NAME:PARAMETER=VALUE,... that split_choice and parse_settings read back."""
    name = getattr(owner, "name", type(owner).__name__)
    changed = (f"{n}={_text_of(value)}" for n, value in changed_parameters(owner).items())
    return f"{name}:{','.join(changed)}".rstrip(":")


def _text_of(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def split_specs(specs: Iterable[str], form: str) -> dict[str, str]:
    """Read several NAME=VALUE texts, each name once."""
    values: dict[str, str] = {}
    for spec in specs:
        name, value = split_spec(spec, form)
        if name in values:
            raise ParameterError(f"{name!r} is given twice: {values[name]} and {value}. Keep one.")
        values[name] = value
    return values


def split_spec(spec: str, form: str) -> tuple[str, str]:
    """Read NAME=VALUE."""
    name, equals, value = spec.partition("=")
    if not (name and equals and value):
        raise ParameterError(f"{spec!r} is not understood; write {form}.")
    return name, value

"""The contract of a mapper, as a test: for plugin authors and for us.

    from geomm_plugin.testing import check_format, check_mapper

    def test_contract():
        check_mapper(MyMapper)
        check_format(MyFormat)

Each check is a function of its own; check_mapper runs them all.
"""

from __future__ import annotations

import inspect
import json
import tempfile
import typing
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from geomm_plugin import registry
from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import DictionaryError, GeommError, NotFittedError
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry.hookspecs import hookimpl
from geomm_plugin.registry.parameters import AtLeast, Parameter, Within, options_of, parameters_of
from geomm_plugin.storage import describe_mapper, load_mapper, save_mapper
from geomm_plugin.testing.toys import Toy, hard_toys, make_toy


def check_mapper(mapper_class: type[Mapper], **params: Any) -> None:
    """Check that a mapper keeps the contract; an AssertionError says which part it breaks.

    Parameters
    ----------
    params
        Parameters to make the mapper with, e.g. to keep a slow method fast.
    """

    def make() -> Mapper:
        return mapper_class(**params)

    for check in CHECKS:
        check(make)


Make = Callable[[], Mapper]


def check_parameters_are_stored(make: Make) -> None:
    """The constructor takes keywords, stores them, and get_params gives back the same objects."""
    mapper = make()
    assert isinstance(mapper.name, str) and mapper.name, "A mapper needs a text `name`."
    assert inspect.getdoc(type(mapper)), "A mapper needs a docstring: its first line is shown."
    params = mapper.get_params()
    again = type(mapper)(**params)
    assert all(value is params[n] for n, value in again.get_params().items()), (
        "The constructor must store its parameters as they are."
    )
    assert mapper.set_params(**params) is mapper, "set_params returns the mapper."
    assert type(mapper).__name__ in repr(mapper)


def check_not_fitted(make: Make) -> None:
    """Before fit, transform says so."""
    try:
        make().transform("en", np.zeros((1, 12), np.float32))
    except NotFittedError:
        return
    raise AssertionError("transform before fit must raise NotFittedError.")


def check_fit_and_transform(make: Make) -> None:
    """Fit returns the mapper and leaves its inputs alone; transform maps each row by itself."""
    toy = make_toy()
    before = {name: value.vectors.copy() for name, value in toy.embeddings.items()}
    mapper = make()
    assert toy.fit(mapper) is mapper, "fit returns the mapper."
    for language, embeddings in toy.embeddings.items():
        mapped = mapper.transform(language, embeddings.vectors)
        assert np.array_equal(before[language], embeddings.vectors), "fit or transform changed it."
        assert mapped.ndim == 2 and len(mapped) == len(embeddings), "One mapped row for each row."
        assert np.isfinite(mapped).all(), "Mapped vectors must be finite."
        alone = mapper.transform(language, embeddings.vectors[5:6])
        assert np.allclose(mapped[5:6], alone, rtol=1e-4, atol=1e-5), "Rows depend on each other."
        assert len(mapper.transform(language, embeddings.vectors[:0])) == 0, "No rows in, none out."
    space = mapper.map(toy.embeddings)
    assert len({space[language].dimension for language in space}) == 1, "One shared dimension."


def check_order_does_not_matter(make: Make) -> None:
    """The order of languages, dictionaries and pairs changes nothing."""
    toy = make_toy(("en", "es", "it"))
    turned = Toy(
        dict(reversed(toy.embeddings.items())),
        {key: found[::-1] for key, found in reversed(toy.dictionaries.items())},
    )
    one, other = _cosines(toy.fit(make()), toy), _cosines(turned.fit(make()), toy)
    assert np.allclose(one, other, atol=1e-3), "The order of the input changes the result."


def check_two_fits_agree(make: Make) -> None:
    """The same input gives the same bits."""
    toy = make_toy()
    one, other = toy.fit(make()).state(), toy.fit(make()).state()
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[n], other[n]) for n in one), "Two fits differ: set a seed."


def check_saved_and_loaded(make: Make) -> None:
    """A mapper that was saved and loaded maps to the same bits, and has the same seed."""
    toy, mapper = make_toy(), make()
    if "seed" in mapper.get_params():
        mapper.set_params(seed=7)
    toy.fit(mapper)
    plugin = None
    if mapper.name not in registry.mappers:
        plugin = _Registering(type(mapper))
        registry.plugins.register(plugin)
    try:
        with tempfile.TemporaryDirectory() as folder:
            save_mapper(mapper, Path(folder) / "mapper")
            loaded = load_mapper(Path(folder) / "mapper")
    finally:
        if plugin is not None:
            registry.plugins.unregister(plugin)
    assert loaded.get_params() == mapper.get_params(), "Parameters differ after loading."
    for language, embeddings in toy.embeddings.items():
        one = mapper.transform(language, embeddings.vectors)
        other = loaded.transform(language, embeddings.vectors)
        assert np.array_equal(one, other), "A loaded mapper maps differently."
    if isinstance(mapper, LinearMapper) and isinstance(loaded, LinearMapper):
        same = np.array_equal(mapper.W("en", "es"), loaded.W("en", "es"))
        assert same, "W of a loaded mapper differs."


def check_dictionaries(make: Make) -> None:
    """A mapper that needs no dictionary refuses one, rather than not look at it."""
    mapper, toy = make(), make_toy()
    if mapper.needs_dictionary:
        return
    try:
        mapper.fit(toy.embeddings, toy.dictionaries)
    except DictionaryError:
        return
    raise AssertionError("fit() without need of a dictionary must refuse one: DictionaryError.")


def check_errors(make: Make) -> None:
    """Unknown languages and wrong dimensions are refused, as LookupError and ValueError."""
    toy = make_toy()
    mapper = toy.fit(make())
    vectors = toy.embeddings["en"].vectors
    for kind, language, rows in ((LookupError, "xx", vectors), (ValueError, "en", vectors[:, :3])):
        try:
            mapper.transform(language, rows)
        except kind:
            continue
        raise AssertionError(f"transform({language!r}, ...) must raise a {kind.__name__}.")


def check_no_words(make: Make) -> None:
    """A language without words is refused with a GeommError."""
    toy = make_toy()
    toy.embeddings["es"] = toy.embeddings["es"].head(0)
    try:
        toy.fit(make())
    except GeommError:
        return
    raise AssertionError("fit() must refuse a language without words: LanguagesError.")


def check_randomness(make: Make) -> None:
    """Randomness comes from a `seed` among the parameters, and is nobody else's."""
    toy = make_toy()
    before = np.random.get_state(legacy=True)  # noqa: NPY002
    mapper = toy.fit(make())
    after = np.random.get_state(legacy=True)  # noqa: NPY002
    assert str(before) == str(after), "fit draws from numpy's global generator: set a seed."
    described = json.loads(describe_mapper(mapper))
    again = json.loads(describe_mapper(toy.fit(make())))
    assert described == again, "Two fits report different things: leave times and dates out."


def check_hard_numbers(make: Make) -> None:
    """Extreme input ends in finite vectors or in a GeommError, never in NaN or another error."""
    for label, toy in hard_toys().items():
        check_finite(make(), toy, label)


def check_hard_parameters(make: Make) -> None:
    """Every numeric parameter can be at its limits, and a weight or tolerance at 1e12."""
    for parameter in parameters_of(type(make())).values():
        for value in limits_of(parameter):
            mapper = make().set_params(**{parameter.name: value})
            check_finite(mapper, make_toy(words=60), f"{parameter.name}={value!r}")


def check_many_dimensions(make: Make) -> None:
    """1024 dimensions and fewer words: finite as well. Slow, so not among CHECKS."""
    mapper = make()
    few = {"regularization": 1.0, "max_iterations": 2, "max_rounds": 1, "iterations": 1}
    mapper.set_params(**{n: value for n, value in few.items() if n in mapper.get_params()})
    check_finite(mapper, make_toy(words=60, dimension=1024), "1024 dimensions")


def check_finite(mapper: Mapper, toy: Toy, label: str) -> None:
    """Fit and map, with finite vectors or a GeommError, and without a warning of numpy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            toy.fit(mapper)
            mapped = [mapper.transform(n, e.vectors) for n, e in toy.embeddings.items()]
        except GeommError:
            return
        except RuntimeWarning as warning:
            raise AssertionError(f"numpy warned: {label}: {warning}.") from warning
    assert all(np.isfinite(m).all() for m in mapped), f"Mapped vectors are not finite: {label}."


CHECKS = (
    check_parameters_are_stored,
    check_not_fitted,
    check_fit_and_transform,
    check_order_does_not_matter,
    check_two_fits_agree,
    check_saved_and_loaded,
    check_dictionaries,
    check_errors,
    check_no_words,
    check_randomness,
    check_hard_numbers,
    check_hard_parameters,
)


def limits_of(parameter: Parameter) -> list[Any]:
    """Return the values at the limits that a parameter's annotation declares."""
    values: list[Any] = []
    for option in options_of(parameter.annotation):
        kind, *bounds = typing.get_args(option) or (option,)
        for bound in bounds:
            if isinstance(bound, Within):
                values += [kind(bound.low), kind(bound.high)]
            elif isinstance(bound, AtLeast):
                values += [kind(bound.bound), 1e12] if kind is float else [kind(bound.bound)]
    return values


def _cosines(mapper: Mapper, toy: Toy) -> Matrix:
    """Return the cosines between all words of all languages."""
    mapped = [unit(mapper.transform(n, e.vectors)) for n, e in sorted(toy.embeddings.items())]
    together = np.concatenate(mapped)
    cosines: Matrix = together @ together.T
    return cosines


class _Registering:
    """A plugin made of one class, for mappers that are tested before they are registered."""

    def __init__(self, mapper_class: type[Mapper]):
        self.mapper_class = mapper_class

    @hookimpl
    def register_mappers(self) -> list[type[Mapper]]:
        """Return the one class."""
        return [self.mapper_class]

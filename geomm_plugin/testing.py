"""The contract of a mapper, as a test: for plugin authors and for us.

    from geomm_plugin.testing import check_format, check_mapper

    def test_contract():
        check_mapper(MyMapper)
        check_format(MyFormat)

Each check is a function of its own; check_mapper runs them all.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from geomm_plugin import registry
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.embeddings import Embeddings, Matrix
from geomm_plugin.errors import GeommError, NotFittedError
from geomm_plugin.hookspecs import hookimpl
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.storage import load_mapper, save_mapper
from geomm_plugin.testing_formats import check_format

__all__ = ["Toy", "check_format", "check_mapper", "make_toy"]


@dataclass(frozen=True)
class Toy:
    """Small made-up languages whose translations are known: word 7 of one is word 7 of all."""

    embeddings: dict[str, Embeddings]
    dictionaries: dict[tuple[str, str], Dictionary] = field(default_factory=dict)

    def fit(self, mapper: Mapper) -> Mapper:
        """Fit a mapper on this toy."""
        return mapper.fit(self.embeddings, self.dictionaries)


def make_toy(
    languages: tuple[str, ...] = ("en", "es"),
    words: int = 120,
    dimension: int = 12,
    *,
    pairs: int | None = None,
    noise: float = 0.05,
    seed: int = 0,
    dtype: str = "float32",
) -> Toy:
    """Make languages that are rotations of one cloud of words, plus noise.

    Parameters
    ----------
    pairs
        How many pairs each dictionary has, by default two thirds of the words. Each language has a
        dictionary with the first.
    """
    random = np.random.default_rng(seed)
    spectrum = np.linspace(2, 0.5, dimension)
    cloud = random.normal(size=(words, dimension)) * spectrum + 0.3
    embeddings = {}
    for language in languages:
        rotation = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
        vectors = cloud @ rotation + noise * random.normal(size=cloud.shape)
        names = [f"{language}{number}" for number in range(words)]
        embeddings[language] = Embeddings(names, vectors.astype(dtype))
    count = words * 2 // 3 if pairs is None else pairs
    first = languages[0]
    return Toy(
        embeddings,
        {
            (first, other): [(f"{first}{n}", f"{other}{n}") for n in range(count)]
            for other in languages[1:]
        },
    )


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
    assert mapper.fit(toy.embeddings, toy.dictionaries) is mapper, "fit returns the mapper."
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
    """A mapper that was saved and loaded maps to the same bits."""
    toy = make_toy()
    mapper = toy.fit(make())
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


def check_hard_numbers(make: Make) -> None:
    """Extreme input ends in finite vectors or in a GeommError, never in NaN or another error."""
    for label, toy in hard_toys().items():
        try:
            mapper = toy.fit(make())
        except GeommError:
            continue
        for language, embeddings in toy.embeddings.items():
            mapped = mapper.transform(language, embeddings.vectors)
            assert np.isfinite(mapped).all(), f"Mapped vectors are not finite: {label}."


def hard_toys() -> Mapping[str, Toy]:
    """Return toys that are hard on numbers, by what is hard about them."""

    def change(what: Callable[[Matrix], Matrix]) -> Toy:
        toy = make_toy()
        changed = {n: Embeddings(e.words, what(e.vectors)) for n, e in toy.embeddings.items()}
        return Toy(changed, toy.dictionaries)

    same = make_toy()
    same_word = {("en", "es"): [("en0", "es0")] * 5}
    return {
        "zero vectors": change(lambda v: np.where(np.arange(len(v))[:, None] % 2, v, 0)),
        "all vectors zero": change(np.zeros_like),
        "constant vectors": change(np.ones_like),
        "a constant column": change(lambda v: np.concatenate([v[:, 1:], 0 * v[:, :1]], axis=1)),
        "one pair": make_toy(pairs=1),
        "fewer pairs than dimensions": make_toy(pairs=5),
        "the same pair five times": Toy(same.embeddings, same_word),
        "one dimension": make_toy(dimension=1),
        "huge numbers": change(lambda v: v * np.float32(1e30)),
        "tiny numbers": change(lambda v: v * np.float32(1e-30)),
        "float16": make_toy(dtype="float16"),
        "float64": make_toy(dtype="float64"),
    }


CHECKS = (
    check_parameters_are_stored,
    check_not_fitted,
    check_fit_and_transform,
    check_order_does_not_matter,
    check_two_fits_agree,
    check_saved_and_loaded,
    check_errors,
    check_hard_numbers,
)


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

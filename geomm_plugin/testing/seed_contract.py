"""The contract of a seed, as a test: for plugin authors and for us.

from geomm_plugin.testing import check_seed

def test_contract():
    check_seed(MySeed)
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any

import numpy as np

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import GeommError
from geomm_plugin.fitting.seeds import Seed
from geomm_plugin.registry.parameters import parameters_of
from geomm_plugin.testing.toys import make_toy

SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu")


def check_seed(seed_class: type[Seed], **params: Any) -> None:
    """Check that a seed keeps the contract; an AssertionError says which part it breaks.

    Parameters
    ----------
    params
        Parameters to make the seed with, e.g. to keep a slow one fast.
    """
    seed = seed_class(**params)
    assert isinstance(seed.name, str) and seed.name, "A seed needs a text `name`."
    assert inspect.getdoc(seed_class), "A seed needs a docstring: its first line is shown."
    assert all(name in parameters_of(seed_class) for name in params), (
        "The constructor must name its parameters."
    )
    source, target = _languages(300, 280)
    before = [np.array(each.vectors) for each in (source, target)]
    pairs = seed.pairs(source, target)
    check_pairs(pairs, source, target)
    again = seed_class(**params).pairs(source, target)
    assert _equal(pairs, again), "Two seeds with the same parameters must agree."
    for each, unchanged in zip((source, target), before, strict=True):
        assert np.array_equal(each.vectors, unchanged), "pairs() changed the vectors."
    check_what_it_looks_at(seed, pairs, source, target)
    check_bonus(seed, source, target)
    for few in (1, 2, 12):
        small, others = _languages(few, few + 1)
        with suppress(GeommError):
            check_pairs(seed.pairs(small, others), small, others)


def check_pairs(pairs: RowPairs, source: Embeddings, target: Embeddings) -> None:
    """Pairs are rows of both languages, marked as induced, with a finite weight, 1 on average."""
    for rows, language in ((pairs.source, source), (pairs.target, target)):
        inside = (np.asarray(rows) >= 0) & (np.asarray(rows) < len(language))
        assert inside.all(), "Pairs must be rows of the languages."
    assert len(pairs.source) == len(pairs.target), "A pair has a row of each language."
    assert not len(pairs.given()), (
        "No pair is given: mark all as induced, as weighted_pairs() does."
    )
    weights = pairs.label()
    assert np.isfinite(weights).all() and (weights >= 0).all(), "Weights are finite, 0 or more."
    assert not len(pairs) or np.isclose(weights.mean(), 1), "Weights are 1 on average."


def check_what_it_looks_at(
    seed: Seed, pairs: RowPairs, source: Embeddings, target: Embeddings
) -> None:
    """A seed by spelling gives the same pairs whatever the vectors are."""
    if not seed.by_spelling:
        return
    turned = [Embeddings(each.words, -np.asarray(each.vectors)[::-1]) for each in (source, target)]
    assert _equal(pairs, seed.pairs(*turned)), "A seed with `by_spelling` looks at words alone."


def check_bonus(seed: Seed, source: Embeddings, target: Embeddings) -> None:
    """Pairs that keep a bonus are rows of both languages, with a finite number each."""
    raised = seed.raised(source, target)
    if raised is None:
        return
    assert len(raised.source) == len(raised.target) == len(raised.bonus), "One bonus for each pair."
    assert (raised.source < len(source)).all() and (raised.target < len(target)).all(), (
        "Pairs with a bonus must be rows of the languages."
    )
    assert np.isfinite(raised.bonus).all(), "A bonus is a finite number."


def _equal(one: RowPairs, other: RowPairs) -> bool:
    arrays = ((pairs.source, pairs.target, pairs.label()) for pairs in (one, other))
    return all(map(np.array_equal, *arrays))


def _languages(sources: int, targets: int) -> tuple[Embeddings, Embeddings]:
    """Return two rotations of one cloud, whose words are the same letters or numbers."""
    words = [
        str(1900 + number)
        if number % 5 == 0
        else "".join(SYLLABLES[int(n)] for n in f"{number:03}")
        for number in range(max(sources, targets))
    ]
    toy = make_toy(words=max(sources, targets, 20), dimension=10, noise=0.02)
    counts = {"en": sources, "es": targets}
    source, target = (
        Embeddings(words[:count], toy.embeddings[name].vectors[:count].copy())
        for name, count in counts.items()
    )
    return source, target

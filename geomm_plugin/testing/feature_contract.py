"""The contract of a feature of re-ranking, as a test: for plugin authors and for us.

from geomm_plugin.testing import check_feature

def test_contract():
check_feature(MyFeature)
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, Feature, UnitRows
from geomm_plugin.retrieval.rerank import Base, SparseFeature

LETTERS = list("abcdeiorst")


def check_feature(feature_class: type[Feature]) -> None:
    """Check that a feature keeps the contract; an AssertionError says which part it breaks."""
    source, target = _language(60, 1), _language(50, 2)
    source.words[:5] = target.words[:5]  # type: ignore[index]
    generator = np.random.default_rng(3)
    pairs = np.stack([generator.integers(0, 60, 40), generator.integers(0, 50, 40)], axis=1)
    queries = source.select(np.arange(0, 60, 3))
    targets = generator.integers(0, 50, (len(queries), 7))
    names = list(feature_class.fixed_weights)
    assert names, f"{feature_class.name} must name its numbers in fixed_weights"
    for known in (pairs, pairs[:0]):
        feature = _make(feature_class, source, target, known)
        values = feature.values(queries, targets)
        expected = (*targets.shape, len(names))
        assert values.shape == expected, f"values() must have the shape {expected}"
        assert np.isfinite(values).all(), "values() must be finite"
        _check_pairs_stand_alone(feature, queries, targets, values)
        again = _make(feature_class, source, target, known).values(queries, targets)
        assert np.array_equal(again, values), "the same words must have the same numbers"
        _check_new_words(feature, targets)
        _check_proposals(feature, queries, len(target))
        if isinstance(feature, SparseFeature):
            _check_columns(feature, queries, targets)


def _make(kind: type[Feature], source: UnitRows, target: UnitRows, pairs: RowIndices) -> Feature:
    return kind(source, target, Base(CSLS(), CSLS().index(source, target), pairs))


def _check_pairs_stand_alone(
    feature: Feature, queries: UnitRows, targets: RowIndices, values: Matrix
) -> None:
    """The numbers of a pair depend on no other pair that is asked about."""
    for query in (0, len(queries) - 1):
        one = feature.values(queries.select(np.array([query])), targets[query : query + 1, 2:4])
        close = np.allclose(one[0], values[query, 2:4], atol=1e-5)
        assert close, "the numbers of a pair must not depend on the other pairs"


def _check_new_words(feature: Feature, targets: RowIndices) -> None:
    """Queries may be words that neither vocabulary holds."""
    vectors = unit(np.random.default_rng(4).standard_normal((2, 8)).astype(np.float32))
    values = feature.values(UnitRows(vectors, ["qqxy", "π"]), targets[:2])
    assert np.isfinite(values).all(), "values() of words outside the vocabulary must be finite"


def _check_proposals(feature: Feature, queries: UnitRows, count: int) -> None:
    """Proposals are pairs of a query and a target, each once."""
    found = feature.propose(queries)
    assert len(found.rows) == len(found.columns) == len(found.bonus), "one of each a proposal"
    assert ((found.rows >= 0) & (found.rows < len(queries))).all(), "rows number the queries"
    assert ((found.columns >= 0) & (found.columns < count)).all(), "columns number the targets"
    assert np.isfinite(found.bonus).all(), "what proposals add must be finite"
    keys = found.rows * count + found.columns
    assert len(np.unique(keys)) == len(keys), "a pair is proposed once"


def _check_columns(feature: SparseFeature, queries: UnitRows, targets: RowIndices) -> None:
    """Values are the sum of the weights of the columns that hold."""
    table = feature.table(queries, targets)
    expected = (targets.size, feature.columns)
    assert table.shape == expected, f"table() must have the shape {expected}"
    weights = np.random.default_rng(5).standard_normal(feature.columns)
    feature.learn(weights, False)
    sums = (table @ weights).reshape((*targets.shape, 1))
    assert np.allclose(feature.values(queries, targets), sums), "values() must weigh table()"


def _language(count: int, seed: int) -> UnitRows:
    generator = np.random.default_rng(seed)
    words = [
        "".join(generator.choice(LETTERS, generator.integers(1, 9))) + LETTERS[n % 10]
        for n in range(count)
    ]
    return UnitRows(unit(generator.standard_normal((count, 8)).astype(np.float32)), words)

"""The contract of a retrieval, as a test: for plugin authors and for us.

    from geomm_plugin.testing import check_retrieval

    def test_contract():
        check_retrieval(MyRetrieval)
        check_retrieval(MyRetrieval, brute_force=lambda source, target, queries: queries @ target.T)

Each check is a function of its own; check_retrieval runs them all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import GeommError
from geomm_plugin.evaluation.runs import measure
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval.interface import Index, Retrieval
from geomm_plugin.retrieval.unit_rows import UnitRows

BruteForce: TypeAlias = Callable[[Matrix, Matrix, Matrix], Matrix]
SOURCES, TARGETS, QUERIES, DIMENSION = 110, 150, 20, 12
TIED = 30  # equal words
TOLERANCE = 1e-5  # of a score, since products may be made in float32
MANY = 9000  # words of each language: all their products take 324 MB
MOST_MEMORY = 250e6  # bytes


def check_retrieval(
    retrieval_class: type[Retrieval], *, brute_force: BruteForce | None = None, **params: Any
) -> None:
    """Check that a retrieval keeps the contract; an AssertionError says which part it breaks.

    Parameters
    ----------
    brute_force
        The formula, worked out plainly: from source, target and query rows the score of every query
        (row) and target (column).
    params
        Parameters to make the retrieval with.
    """
    retrieval = retrieval_class(**params)
    assert isinstance(retrieval.name, str) and retrieval.name, "A retrieval needs a text `name`."
    assert inspect.getdoc(retrieval_class), (
        "A retrieval needs a docstring: its first line is shown."
    )
    assert retrieval.label.startswith(retrieval.name), "A label begins with the name."
    for check in (check_answers, check_ranks, check_ties, check_empty, check_refusals):
        check(retrieval)
    if brute_force is not None:
        check_brute_force(retrieval, brute_force)
    check_memory(retrieval)


def check_answers(retrieval: Retrieval) -> None:
    """A search gives each target once, best first, as many as are asked for, and the same again."""
    for source, target in _clouds():
        queries = source.select(slice(QUERIES))
        before = [rows.all().copy() for rows in (source, target)]
        every = retrieval.index(source, target).search(queries, TARGETS)
        index = retrieval.index(source, target)
        for k in (10, 1, TARGETS, TARGETS + 50):
            found = index.search(queries, k)
            count = min(k, TARGETS)
            assert found.indices.shape == found.scores.shape == (QUERIES, count), (
                "A search gives the k best of each query, or all targets if there are fewer."
            )
            assert np.isfinite(found.scores).all(), "Scores must be finite."
            assert (np.diff(found.scores, axis=1) <= 0).all(), "The best come first."
            assert all(len(set(row)) == count for row in found.indices.tolist()), (
                "A target is listed once."
            )
            assert np.allclose(found.scores, every.scores[:, :count], 0, TOLERANCE), (
                "The k best are those with the highest scores of all."
            )
        rows = np.repeat(np.arange(QUERIES), 10)
        columns = every.indices[:, :10].ravel()
        scores = index.pair_scores(queries, rows, columns)
        assert np.allclose(scores, every.scores[:, :10].ravel(), 0, TOLERANCE), (
            "pair_scores gives other scores than search."
        )
        for rows_before, rows_now in zip(before, (source, target), strict=True):
            assert np.array_equal(rows_before, rows_now.all()), "A search changed its arguments."


def check_ranks(retrieval: Retrieval) -> None:
    """A rank is 1 + the wrong targets that score as much as the best right one, ties included."""
    generator = np.random.default_rng(1)
    for source, target in _clouds():
        queries = source.select(slice(QUERIES))
        gold = [generator.choice(TARGETS, 1 + n % 3, replace=False) for n in range(QUERIES)]
        every = retrieval.index(source, target).search(queries, TARGETS)
        least, most = [], []  # two sums of the same numbers may differ by rounding
        for columns, scores, correct in zip(every.indices, every.scores, gold, strict=True):
            is_correct = np.isin(columns, correct)
            above = scores[~is_correct] - scores[is_correct].max()
            least.append(1 + np.count_nonzero(above > TOLERANCE))
            most.append(1 + np.count_nonzero(above >= -TOLERANCE))
        for depth in (None, 1, 5, 50, TARGETS + 50):
            ranks = retrieval.index(source, target).ranks(queries, gold, depth)
            deepest = TARGETS if depth is None else depth + 1
            is_right = (ranks >= np.minimum(least, deepest)) & (ranks <= np.minimum(most, deepest))
            assert is_right.all(), f"Ranks to the depth {depth} are not those of search."


def check_ties(retrieval: Retrieval) -> None:
    """Of targets with equal scores the first one is listed first, and no tie is a success."""
    generator = np.random.default_rng(2)
    one = unit(generator.standard_normal((1, DIMENSION)).astype(np.float32))
    rows = UnitRows(np.repeat(one, TIED, axis=0), ["same"] * TIED)
    queries, gold = rows.select(slice(4)), [np.array([number]) for number in range(4)]
    index = retrieval.index(rows, rows)
    if np.ptp(index.search(queries, TIED).scores) > 0:  # something but the vectors counts, too
        return
    assert (index.ranks(queries, gold) == TIED).all(), (
        "Where all words are equal, all wrong ones must rank before the right one."
    )
    assert index.search(queries, 3).indices.tolist() == [[0, 1, 2]] * 4, (
        "Of equal targets the lower row comes first."
    )


def check_empty(retrieval: Retrieval) -> None:
    """No queries have no answers; one word of each language is enough."""
    source, target = next(_clouds())
    index = retrieval.index(source, target)
    nothing = source.select(slice(0))
    assert index.search(nothing, 3).indices.shape == (0, 3), "No queries have no answers."
    assert len(index.ranks(nothing, [])) == 0, "No queries have no ranks."
    alone = retrieval.index(source.select(slice(1)), target.select(slice(1)))
    found = alone.search(source.select(slice(1)), 5)
    assert found.indices.tolist() == [[0]] and np.isfinite(found.scores).all(), (
        "One target is the answer to every query."
    )


def check_refusals(retrieval: Retrieval) -> None:
    """What cannot be compared ends in a GeommError."""
    source, target = next(_clouds())
    broken = target.all().copy()
    broken[3, 2] = np.nan
    index = retrieval.index(source, target)
    right, none, wrong = np.array([1]), np.array([], np.intp), np.array([TARGETS])
    refused: dict[str, Callable[[], object]] = {
        "NaN": lambda: retrieval.index(source, broken).search(source, 1),
        "Rows that are not of length 1": lambda: retrieval.index(source, 2 * target.all()),
        "No targets": lambda: retrieval.index(source, target.select(slice(0))),
        "k = 0": lambda: index.search(source, 0),
        "Queries of other dimensions": lambda: index.search(np.eye(1, 3, dtype=np.float32), 1),
        "A query without a right target": lambda: index.ranks(
            source.select(slice(2)), [right, none]
        ),
        "A right target that is no row": lambda: index.ranks(source.select(slice(1)), [wrong]),
    }
    for what, ask in refused.items():
        try:
            ask()
        except GeommError:
            continue
        raise AssertionError(f"{what} must be refused with a GeommError.")


def check_brute_force(retrieval: Retrieval, brute_force: BruteForce) -> None:
    """Search finds what comparing everything finds."""
    for source, target in _clouds():
        queries = source.select(slice(QUERIES))
        table = brute_force(source.all(), target.all(), queries.all())
        found = retrieval.index(source, target).search(queries, 10)
        best = -np.sort(-table, axis=1)[:, :10]
        assert np.allclose(found.scores, best, 0, TOLERANCE), "Others have higher scores."
        own = np.take_along_axis(table, found.indices, axis=1)
        assert np.allclose(found.scores, own, 0, TOLERANCE), "Scores are not those of the formula."


def check_memory(retrieval: Retrieval) -> None:
    """Memory does not grow with the product of the vocabularies."""
    generator = np.random.default_rng(3)
    source, target = (_named(generator.standard_normal((MANY, 16))) for _ in range(2))
    queries, gold = source.select(slice(1200)), [np.array([number]) for number in range(1200)]

    def answer() -> Index:
        index = retrieval.index(source, target)
        index.search(queries, 10)
        index.ranks(queries, gold, 10)
        return index

    _, peak = measure(answer)
    assert peak < MOST_MEMORY, (
        f"1,200 queries among 2 x {MANY} words take {peak / 1e6:.0f} MB: compare them in blocks."
    )


def _clouds() -> Iterator[tuple[UnitRows, UnitRows]]:
    """Yield source and target rows: scattered, many equal, some zero."""
    generator = np.random.default_rng(0)
    for kind in ("scattered", "repeated", "some zero"):
        languages = []
        for count in (SOURCES, TARGETS):
            rows = generator.standard_normal((count, DIMENSION))
            if kind == "repeated":
                rows = rows[generator.integers(0, count // 5, count)]
            elif kind == "some zero":
                rows[generator.random(count) < 0.3] = 0
            languages.append(_named(rows))
        yield languages[0], languages[1]


def _named(rows: Matrix) -> UnitRows:
    return UnitRows(unit(rows.astype(np.float32)), [f"word{row}" for row in range(len(rows))])

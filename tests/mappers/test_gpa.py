import numpy as np
import pytest

from geomm_plugin import get_mapper
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.mappers.gpa import chained
from geomm_plugin.testing import make_toy


def loss(toy, mapper, chains):
    total = 0.0
    views = {name: toy.normalized(mapper, name).astype(np.float64) for name in toy.embeddings}
    for (source, target), pairs in chains.items():
        x = views[source][pairs.source] @ mapper.matrices_[source]
        z = views[target][pairs.target] @ mapper.matrices_[target]
        total += ((x - z) ** 2).sum()
    return total


def row_pairs(toy):
    from geomm_plugin.dictionary import pair_languages

    return pair_languages(toy.embeddings, toy.dictionaries)


def test_two_languages_are_procrustes(two, uneven):
    for data in (two, uneven):
        np.testing.assert_allclose(
            data.fit("gpa").W("en", "es"), data.fit("procrustes").W("en", "es"), atol=1e-10
        )


def test_every_map_is_a_rotation(three):
    for matrix in three.fit("gpa").matrices_.values():
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(12), atol=1e-10)


def test_rounds_never_raise_the_loss_and_end_below_a_tree_of_procrustes(three):
    gpa = three.fit("gpa", tolerance=0.0)
    agreement = gpa.report_.extras["agreement"]
    assert (np.diff(agreement) >= -1e-9 * abs(agreement[-1])).all()
    chains = chained(row_pairs(three))
    assert loss(three, gpa, chains) < loss(three, three.fit("procrustes"), chains)


def test_rounds_go_on_until_one_gains_next_to_nothing():
    toy = make_toy(("en", "es", "it"), words=400, pairs=150, drawn=True, noise=1.5)
    chains = chained(row_pairs(toy))
    one, default, best = (
        loss(toy, toy.fit("gpa", **params), chains)
        for params in ({"max_iterations": 1}, {}, {"tolerance": 0.0, "max_iterations": 500})
    )
    assert default == pytest.approx(best, rel=1e-6)
    assert one > best * (1 + 1e-4)


def test_no_rotation_of_one_language_improves_the_minimum(three):
    """At the minimum the sum of M_ij R_j, seen in R_i's frame, is symmetric positive."""
    gpa = three.fit("gpa", tolerance=0.0, max_iterations=500)
    chains = chained(row_pairs(three))
    views = {name: three.normalized(gpa, name).astype(np.float64) for name in three.embeddings}
    for language in three.embeddings:
        total = np.zeros((12, 12))
        for (source, target), pairs in chains.items():
            mapped = {
                source: views[source][pairs.source] @ gpa.matrices_[source],
                target: views[target][pairs.target] @ gpa.matrices_[target],
            }
            if language in mapped:
                (other,) = set(mapped) - {language}
                total += mapped[language].T @ mapped[other]
        np.testing.assert_allclose(total, total.T, atol=1e-5 * abs(total).max())
        assert np.linalg.eigvalsh((total + total.T) / 2).min() > 0


def test_chains_leave_given_dictionaries_alone(three):
    pairs = row_pairs(three)
    found = chained(pairs)
    assert set(found) == {*pairs, ("es", "it")}
    assert all(found[edge] is pairs[edge] for edge in pairs)


def test_languages_of_three_dimensions():
    toy = make_toy({"en": 8, "es": 12, "it": 10}, words=400, pairs=200, drawn=True, noise=0.1)
    gpa = toy.fit("gpa")
    assert {n: m.shape for n, m in gpa.matrices_.items()} == {
        "en": (8, 12),
        "es": (12, 12),
        "it": (10, 12),
    }


@pytest.mark.parametrize("chain", [True, False])
def test_translates_real_words(europarl, demo_precision, chain):
    gpa = europarl.fit("gpa", chain=chain)
    assert demo_precision(gpa, "en", "es") > 0.8
    assert demo_precision(gpa, "es", "it") > 0.8


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def test_union_pairs_are_chained_as_they_are():
    toy = make_toy(("en", "es", "it"), words=600, dimension=20, noise=0.5, pairs=60)
    mapper = get_mapper("self_learning", mapper="gpa", induction="union", vocabulary=300)
    assert mapper.fit(toy.embeddings, toy.dictionaries).report_.rounds


@pytest.mark.parametrize("edge", [("en", "es"), ("es", "en")])
def test_chains_are_those_of_a_loop_over_pairs_in_any_order(edge):
    random = np.random.default_rng(0)
    first = RowPairs(random.integers(0, 9, 30), random.integers(0, 9, 30))
    second = RowPairs(random.integers(0, 9, 30), random.integers(0, 9, 30))
    given = first if edge == ("en", "es") else first.reverse()
    found = chained({edge: given, ("es", "it"): second})["en", "it"]
    expected = {
        (a, d)
        for a, b in zip(first.source.tolist(), first.target.tolist(), strict=True)
        for c, d in zip(second.source.tolist(), second.target.tolist(), strict=True)
        if b == c
    }
    assert as_set(found) == expected and len(found) == len(expected)

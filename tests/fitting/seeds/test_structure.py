"""Seeds by structure: sorted rows, and the coupling of Gromov and Wasserstein."""

import numpy as np
import pytest

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.fitting.seeds import as_seed
from geomm_plugin.fitting.seeds.structure import GromovWasserstein, factor, profiles, sinkhorn


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_a_factor_has_the_power_of_the_kernel_as_its_inner_products(rotated, power):
    x = rotated[0].vectors.astype(np.float64)
    x = x - x.mean(axis=0)
    F = factor(rotated[0].vectors, power).astype(np.float64)
    product = F @ F.T
    squared = product @ product if power == 0.5 else product
    assert np.allclose(squared, x @ x.T, atol=1e-3 * np.abs(x @ x.T).max())


def test_profiles_are_the_same_after_a_rotation_and_move_with_their_words(rotated):
    x = rotated[0].vectors
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0].astype(np.float32)
    order = np.random.default_rng(1).permutation(len(x))
    one, other = profiles(factor(x), 50), profiles(factor(x[order] @ rotation), 50)
    assert np.allclose(one[order], other, atol=1e-3)
    assert not np.allclose(one, other, atol=1e-2)


def test_vectors_that_are_all_zero_have_a_zero_factor():
    assert not factor(np.zeros((5, 3), np.float32)).any()


def test_a_rotated_cloud_is_paired_up_from_both_sides(rotated):
    pairs = as_seed("sorted_rows").pairs(*rotated)
    assert len(pairs) == 800  # every word of both languages asks once
    assert (pairs.source == pairs.target).mean() > 0.5  # by chance: 1 in 400


def test_only_as_many_words_as_asked_for_are_looked_at(rotated):
    pairs = as_seed("sorted_rows:words=50").pairs(*rotated)
    assert pairs.source.max() < 50
    assert pairs.target.max() < 50


def share_right(pairs):
    return (pairs.source == pairs.target).mean()


def test_sinkhorn_makes_every_row_and_column_sum_to_one():
    scores = np.random.default_rng(0).normal(size=(30, 30)).astype(np.float32)
    coupling = sinkhorn(scores, sweeps=50)
    assert np.allclose(coupling.sum(axis=0), 1, atol=1e-4)
    assert np.allclose(coupling.sum(axis=1), 1, atol=1e-4)


def test_a_rotated_cloud_is_paired_up(rotated):
    pairs = GromovWasserstein().pairs(*rotated)
    assert len(pairs) > 300
    assert share_right(pairs) > 0.95
    assert np.isclose(pairs.labels.mean(), 1)
    assert pairs.induced.all()


def test_only_the_frequency_prior_knows_the_order_of_the_rows(rotated):
    source, target = rotated
    order = np.random.default_rng(1).permutation(len(target))
    shuffled = Embeddings([target.words[row] for row in order], target.vectors[order])
    pairs = GromovWasserstein(frequency=0).pairs(source, shuffled)
    assert (order[pairs.target] == pairs.source).mean() > 0.95
    plain = GromovWasserstein(frequency=0).pairs(source, target)
    moved = dict(zip(pairs.source, order[pairs.target], strict=True))
    same = [
        moved.get(row) == column for row, column in zip(plain.source, plain.target, strict=True)
    ]
    assert np.mean(same) > 0.99


def test_a_heavy_frequency_prior_pairs_words_of_the_same_rank(rotated):
    source, target = rotated
    order = np.random.default_rng(1).permutation(len(target))
    shuffled = Embeddings(target.words, target.vectors[order])
    pairs = GromovWasserstein(frequency=100, profile=0).pairs(source, shuffled)
    assert np.abs(pairs.source - pairs.target).mean() < 5


def test_languages_of_different_sizes_take_the_words_that_both_have(rotated):
    source, target = rotated
    few = Embeddings(target.words[:150], target.vectors[:150])
    pairs = GromovWasserstein().pairs(source, few)
    assert pairs.source.max() < 150
    assert share_right(pairs) > 0.9


def test_words_spelt_alike_are_paired_where_structure_says_nothing():
    random = np.random.default_rng(3)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(random.choice(letters, 8)) for _ in range(80)]
    order = random.permutation(80)
    source = Embeddings(words, random.normal(size=(80, 10)).astype(np.float32))
    target = Embeddings(
        [words[row] for row in order], random.normal(size=(80, 10)).astype(np.float32)
    )
    shares = []
    for weight in (0.0, 10.0):
        pairs = GromovWasserstein(spelling=weight).pairs(source, target)
        shares.append(np.mean(order[pairs.target] == pairs.source))
    assert shares[0] < 0.2 and shares[1] > 0.9

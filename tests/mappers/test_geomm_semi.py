"""GeoMM with self-learning: which lambda induced pairs get."""

import numpy as np

from geomm_plugin import get_mapper
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport
from geomm_plugin.fitting.held_out import Pool
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.fitting.latent import latent_maps
from geomm_plugin.fitting.self_learning import Pace
from geomm_plugin.mappers import GeoMM, GeoMMMultiSemi, GeoMMSemi
from geomm_plugin.mappers.geomm_semi import ScaledGeoMM
from geomm_plugin.testing import make_toy


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def test_lambda_follows_the_number_of_pairs():
    # At a given lambda on the 1/|Omega| scale, a dictionary written twice is the same problem.
    toy = make_toy(words=150, dimension=8)
    vectors = toy.views("unit")
    pairs = RowPairs(np.arange(90), np.arange(90))
    edge = Edge("en", "es", vectors["en"], vectors["es"], pairs)
    scaled = ScaledGeoMM(regularization=0.5).solve(edge, 0.5, FitReport())
    assert np.allclose(scaled, GeoMM().solve(edge, 45.0, FitReport()))


def test_lambda_is_that_which_translates_held_out_words_best():
    edge, chosen = ("en", "es"), []
    for dimension, pairs in ((12, 30), (40, 60)):
        vectors = make_toy(words=300, dimension=dimension, noise=0.9).views("unit")
        train = RowPairs(np.arange(pairs), np.arange(pairs))
        held = RowPairs(np.arange(200, 300), np.arange(200, 300))
        pool = Pool(vectors["en"], vectors["es"], held)

        def precision_at(share, vectors=vectors, train=train, pool=pool):
            edge = Edge("en", "es", vectors["en"], vectors["es"], train)
            W = ScaledGeoMM().solve(edge, share, FitReport())
            return pool.precision(*latent_maps(W))

        chosen.append(GeoMMSemi().share(vectors, {edge: train}, {edge: held}))
        assert chosen[-1] == max(GeoMMSemi.candidates, key=precision_at)
        assert GeoMMSemi().share(vectors, {edge: train}, {}) == GeoMMSemi.default
        assert GeoMMSemi(regularization=7.0).share(vectors, {edge: train}, {edge: held}) == 7.0
    assert chosen[0] != chosen[1]  # no constant does


def test_lambda_of_a_shared_metric_is_multiplied_by_the_number_of_dictionaries():
    toy = make_toy(("en", "es", "it"), words=150, dimension=8, noise=0.3, pairs=60)
    semi = toy.fit(GeoMMMultiSemi(regularization=0.2, max_rounds=0))
    joint = toy.fit(get_mapper("geomm_multi", regularization=0.2 * 2))
    for language in toy.embeddings:
        assert np.array_equal(semi.matrices_[language], joint.matrices_[language])
    _, *later = toy.fit(GeoMMMultiSemi(max_rounds=1)).report_.rounds
    assert [told.regularization for told in later] == [GeoMMMultiSemi.default * 2]


def test_the_maps_kept_are_fitted_to_the_whole_dictionary_and_lambda_to_a_part(monkeypatch):
    toy = make_toy(words=1500, dimension=30, pairs=520, noise=0.7)
    fitted, learn = [], ScaledGeoMM.learn

    def watched(self, vectors, pairs, report):
        maps = learn(self, vectors, pairs, report)
        fitted.append((self.regularization, pairs["en", "es"], maps))
        return maps

    monkeypatch.setattr(ScaledGeoMM, "learn", watched)
    semi = GeoMMSemi()
    semi.pace = Pace(chance_errors=0)  # any gain is kept
    mapper = toy.fit(semi)
    kept = mapper.report_.kept_round
    assert kept > 0
    (chosen, pairs), *others = [
        (chosen, pairs)
        for chosen, pairs, maps in fitted
        if np.array_equal(maps["en"], mapper.matrices_["en"])
    ]
    assert not others and chosen == mapper.report_.rounds[kept].regularization
    assert mapper.report_.regularization[ALL_DICTIONARIES].value == chosen
    assert as_set(pairs.given()) == {(n, n) for n in range(520)}
    in_folds = [pairs for _, pairs, _ in fitted if len(pairs.given()) < 520]
    assert {len(pairs.given()) for pairs in in_folds} == {416}  # a fifth was held out
    assert len(in_folds) == 5 * (2 if kept > 1 else 1)  # the first round, and the one kept
    assert {chosen for chosen, _, _ in fitted} == {chosen}, "lambda is chosen once"

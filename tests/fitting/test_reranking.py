"""Learnt weights: from words that no map saw, carried by the mapper, its space and its folder."""

import json

import numpy as np
import pytest

from geomm_plugin import compare, evaluate, get_mapper, learn_reranking, load_mapper, save_mapper
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.fitting import reranking
from geomm_plugin.mappers import Procrustes
from geomm_plugin.storage import describe_mapper


@pytest.fixture(scope="module")
def small(demo):
    embeddings = {language: demo.embeddings[language].head(3000) for language in ("en", "es")}
    pairs = {("en", "es"): list(demo.train["en", "es"])[:900]}
    return embeddings, pairs, {("en", "es"): demo.test["en", "es"]}


@pytest.fixture(scope="module")
def fitted(small):
    embeddings, pairs, _ = small
    mapper = Procrustes().fit(embeddings, pairs)
    learn_reranking(mapper, embeddings, pairs)
    return mapper


def test_weights_are_learnt_near_the_fixed_ones(fitted):
    weights = fitted.reranking_["en", "es"]
    assert list(weights) == ["letters", "letters^0.5"]
    assert abs(weights["letters"] - 0.2) < 0.2 and weights["letters"] != 0.2


def test_no_map_has_seen_the_words_it_translates(small, monkeypatch):
    embeddings, pairs, _ = small
    seen = []

    class Watched(Procrustes):
        def fit(self, embeddings, dictionaries):
            seen.append({source for source, _ in dictionaries["en", "es"]})
            return super().fit(embeddings, dictionaries)

    asked = []
    collect = reranking._choices_of_fold

    def watch(space, pair, dictionary, retrieval):
        asked.append({source for source, _ in dictionary})
        return collect(space, pair, dictionary, retrieval)

    monkeypatch.setattr(reranking, "_choices_of_fold", watch)
    learn_reranking(Watched(), embeddings, pairs, folds=2)
    assert len(seen) == len(asked) == 2
    assert all(not fit & held_out for fit, held_out in zip(seen, asked, strict=True))
    assert asked[0] | asked[1] >= seen[0] | seen[1] and not asked[0] & asked[1]


def test_a_space_uses_them_and_a_folder_keeps_them(fitted, small, tmp_path):
    embeddings, _, _ = small
    space = fitted.map(embeddings)
    learnt = space.translate("parliament", "en", "es", retrieval="reranked")
    fixed = space.translate("parliament", "en", "es", retrieval="reranked:weights=fixed")
    assert learnt != fixed
    back = space.translate("parlamento", "es", "en", retrieval="reranked")
    assert back != space.translate("parlamento", "es", "en", retrieval="reranked:weights=fixed")
    save_mapper(fitted, tmp_path)
    again = load_mapper(tmp_path)
    assert again.reranking_ == fitted.reranking_
    assert again.map(embeddings).translate("parliament", "en", "es", retrieval="reranked") == learnt


def test_another_fit_forgets_them(small):
    embeddings, pairs, _ = small
    mapper = Procrustes().fit(embeddings, pairs)
    mapper.reranking_ = {("en", "es"): {"letters": 0.5}}
    assert not mapper.fit(embeddings, pairs).reranking_
    assert "reranking" not in json.loads(describe_mapper(mapper))


@pytest.mark.parametrize(
    "entries", [5, [5], [{"source": "en", "target": "es"}], [{"source": "en", "target": 1}]]
)
def test_folders_with_odd_weights_are_refused(entries, fitted, tmp_path):
    from geomm_plugin.storage import _reranking

    with pytest.raises(FormatError, match="'reranking' is not a list"):
        _reranking(entries, tmp_path)
    odd = [{"source": "en", "target": "es", "weights": {"letters": "much"}}]
    with pytest.raises(FormatError, match="'reranking' is not a list"):
        _reranking(odd, tmp_path)


def test_few_words_teach_nothing(small):
    embeddings, pairs, _ = small
    few = {("en", "es"): pairs["en", "es"][:60]}
    assert learn_reranking(get_mapper("procrustes"), embeddings, few) == {}


def test_what_cannot_be_learnt_is_refused(small):
    embeddings, pairs, _ = small
    with pytest.raises(ParameterError, match="Only the retrieval 'reranked'"):
        learn_reranking(Procrustes(), embeddings, pairs, retrieval="csls")
    with pytest.raises(ParameterError, match="at least 2 folds"):
        learn_reranking(Procrustes(), embeddings, pairs, folds=1)


def test_compare_learns_for_a_retrieval_that_asks(small, fitted):
    embeddings, pairs, tests = small
    asked = ["csls", "reranked", "reranked:weights=learnt"]
    found = compare("procrustes", embeddings, pairs, tests, retrievals=asked, metrics=["p@1"])
    assert [run.error for run in found.runs] == [None]
    labels = [e.retrieval for e in found.runs[0].evaluations]
    assert labels == ["csls", "reranked", "reranked(weights='learnt')"]
    ranks = [e.ranks for e in found.runs[0].evaluations]
    space = fitted.map(embeddings)
    learnt = evaluate(space, "en", "es", tests["en", "es"], "reranked", metrics=["p@1"])
    assert np.array_equal(ranks[2], learnt.ranks)
    fixed = evaluate(
        space, "en", "es", tests["en", "es"], "reranked:weights=fixed", metrics=["p@1"]
    )
    assert np.array_equal(ranks[1], fixed.ranks)

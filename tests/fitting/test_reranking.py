"""Learnt weights: from words that no map saw, carried by the mapper, its space and its folder."""

import json

import numpy as np
import pytest

from geomm_plugin import Reranked, compare, evaluate, get_mapper, load_mapper, registry, save_mapper
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.fitting import learn_reranking, reranking
from geomm_plugin.mappers import Procrustes
from geomm_plugin.retrieval.rerank.learnt import shipped_weights
from geomm_plugin.storage import describe_mapper


@pytest.fixture(scope="module")
def small(demo):
    embeddings = {language: demo.embeddings[language].head(3000) for language in ("en", "es")}
    pairs = {("en", "es"): list(demo.train["en", "es"])[:1400]}
    return embeddings, pairs, {("en", "es"): demo.test["en", "es"]}


@pytest.fixture(scope="module")
def fitted(small):
    embeddings, pairs, _ = small
    mapper = Procrustes().fit(embeddings, pairs)
    learn_reranking(mapper, embeddings, pairs)
    return mapper


def test_weights_of_all_numbers_are_learnt(fitted, small):
    learnt = fitted.reranking_["en", "es"]
    names = {name for kind in reranking.FEATURES for name in registry.features[kind].fixed_weights}
    assert set(learnt) == names and learnt["learnt_letters"] > 0
    assert list(learnt.columns) == ["endings"] and learnt["endings"] == 1
    known = {word for pair in learnt.pairs for word in pair}
    assert known <= {word for pair in small[1]["en", "es"] for word in pair} and len(known) > 900


def test_asked_features_are_weighed_alone(small):
    embeddings, pairs, _ = small
    asked = "reranked:features=letters,frequency"
    learnt = learn_reranking(Procrustes(), embeddings, pairs, retrieval=asked)["en", "es"]
    assert list(learnt) == ["letters", "letters^0.5", "frequency", "frequency:target"]
    assert not learnt.columns


def test_no_map_has_seen_the_words_it_translates(small, monkeypatch):
    embeddings, pairs, _ = small
    seen = []

    class Watched(Procrustes):
        def fit(self, embeddings, dictionaries):
            seen.append({source for source, _ in dictionaries["en", "es"]})
            return super().fit(embeddings, dictionaries)

    asked = []
    known = []
    collect = reranking._choices_of_part

    def watch(index, space, pair, dictionary):
        asked.append({source for source, _ in dictionary})
        words = embeddings["en"].words
        known.append({words[row] for row in index.features[0].base.pairs[:, 0]})
        return collect(index, space, pair, dictionary)

    monkeypatch.setattr(reranking, "_choices_of_part", watch)
    learn_reranking(Watched(), embeddings, pairs, folds=3)
    assert len(seen) == len(asked) == len(known) == 3
    assert all(not fit & held_out for fit, held_out in zip(seen, asked, strict=True))
    assert all(not pairs & held_out for pairs, held_out in zip(known, asked, strict=True))
    assert asked[0] | asked[1] >= seen[2] and not asked[0] & asked[1]


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
    "entries",
    [
        5,
        [5],
        [{"source": "en", "target": "es"}],
        [{"source": "en", "target": 1, "weights": {}}],
        [{"source": "en", "target": "es", "weights": {"letters": "much"}}],
        [{"source": "en", "target": "es", "weights": {"letters": 1.0}, "belief": [1.0]}],
        [{"source": "en", "target": "es", "weights": {"letters": 10**400}}],
        [{"source": "en", "target": "es", "weights": {}, "belief": [1e3, 0, 0, 0, 0]}],
        [{"source": "en", "target": "es", "weights": {}, "belief": [0, 0, 0, 1e3, 0]}],
    ],
)
def test_folders_with_odd_weights_are_refused(entries, tmp_path):
    from geomm_plugin.storage import _reranking

    with pytest.raises(FormatError, match="'reranking' is not a list"):
        _reranking({"reranking": entries}, {}, tmp_path)


TOO_DEEP = np.frombuffer(b"[" * 100_000, np.uint8)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        *((name, np.full((2, 2), np.nan)) for name in ("pairs", "columns/endings", "right")),
        ("pairs", TOO_DEEP),
    ],
)
def test_folders_with_odd_arrays_are_refused(name, array, fitted, tmp_path):
    from geomm_plugin.storage import _reranking

    description, arrays = fitted.reranking_["en", "es"].state()
    entry = {"source": "en", "target": "es"} | description
    odd = arrays | {name: array}
    with pytest.raises(FormatError, match="'reranking' is not a list"):
        _reranking(
            {"reranking": [entry]},
            {f"reranking/0/{own}": array for own, array in odd.items()},
            tmp_path,
        )


def test_weights_of_an_older_form_are_taken(fitted, small):
    """They name letters alone, and come without arrays."""
    from geomm_plugin.storage import _reranking

    old = {"source": "en", "target": "es", "weights": {"letters": 0.4, "letters^0.5": 0.1}}
    learnt, rest = _reranking({"reranking": [old]}, {"matrix/en": np.eye(2)}, None)
    assert learnt["en", "es"] == old["weights"] and list(rest) == ["matrix/en"]
    space = fitted.map(small[0])
    plain = space.translate("parliament", "en", "es", retrieval=Reranked(weights=old["weights"]))
    space.reranking = learnt
    assert space.translate("parliament", "en", "es", retrieval="reranked") == plain


def test_probabilities_hold_what_they_say(fitted, small):
    embeddings, _, tests = small
    space = fitted.map(embeddings)
    gold = {}
    for source, target in tests["en", "es"]:
        if source in embeddings["en"] and target in embeddings["es"]:
            gold.setdefault(source, set()).add(target)
    answers = space.answers(list(gold), "en", "es", 3)
    assert [[tuple(a[:2]) for a in each] for each in answers] == space.translate(
        list(gold), "en", "es", 3, retrieval="reranked"
    )
    sure = np.array([each[0].probability for each in answers])
    right = np.array([each[0].word in gold[word] for word, each in zip(gold, answers, strict=True)])
    assert ((sure > 0) & (sure < 1)).all() and abs(sure.mean() - right.mean()) < 0.15
    order = np.argsort(-sure)
    assert right[order[: len(order) // 2]].mean() > right[order[len(order) // 2 :]].mean()
    sets = space.answers(list(gold), "en", "es", 50, coverage=0.8)
    held = [any(a.word in gold[w] for a in each) for w, each in zip(gold, sets, strict=True)]
    assert np.mean(held) > 0.7


def test_probabilities_need_the_retrieval_that_has_them(fitted, small):
    space = fitted.map(small[0])
    with pytest.raises(ParameterError, match="Probabilities come from the retrieval 'reranked'"):
        space.answers(["parliament"], "en", "es", retrieval="csls")
    with pytest.raises(ParameterError, match="a share between 0 and 1"):
        space.answers(["parliament"], "en", "es", coverage=9)
    fixed = "reranked:weights=fixed"
    assert space.answers(["parliament"], "en", "es", 1, fixed)[0][0].probability > 0.5
    with pytest.raises(ParameterError, match="no weights were learnt from a dictionary"):
        space.answers(["parliament"], "en", "es", retrieval=fixed, coverage=0.9)


def test_dictionary_keeps_its_precision(fitted, small):
    space = fitted.map(small[0])
    every = space.dictionary("en", "es", max_words=800, retrieval="reranked")
    sure = space.dictionary("en", "es", max_words=800, retrieval="reranked", at_precision=0.95)
    assert 0 < len(sure) < len(every) and {p[:2] for p in sure} <= {p[:2] for p in every}
    assert np.mean([p for *_, p in sure]) >= 0.95


@pytest.mark.parametrize("mapper", ["procrustes", "geomm_unsup"])
def test_a_small_dictionary_or_none_takes_weights_of_other_languages(mapper, small):
    embeddings, pairs, tests = small
    chosen = get_mapper(mapper)
    given = {("en", "es"): pairs["en", "es"][:200]} if chosen.needs_dictionary else {}
    learnt = learn_reranking(chosen, embeddings, given)["en", "es"]
    assert not learnt.columns and learnt["learnt_letters"] > 0
    known = {source for source, _ in learnt.pairs}
    assert len(known) > 500 and known >= {source for source, _ in given.get(("en", "es"), [])}
    fitted = chosen.fit(embeddings, given)
    assert learn_reranking(fitted, embeddings, given) == {("en", "es"): learnt}
    space = fitted.map(embeddings)
    both = ("reranked", "reranked:weights=fixed")
    ours, fixed = (evaluate(space, "en", "es", tests["en", "es"], r).scores["p@1"] for r in both)
    assert ours > fixed - 0.01


def test_weights_of_letters_count_where_words_are_spelt_alike():
    alike, some, different = (shipped_weights(share) for share in (0.9, 0.1, 0.0))
    name = "learnt_letters"
    assert alike[name] > some[name] > different[name] == 0
    assert (different["letters"], different["letters^0.5"]) == (0.2, 0.3), "the fixed ones"


def test_what_cannot_be_learnt_is_refused(small):
    embeddings, pairs, _ = small
    with pytest.raises(ParameterError, match="Only the retrieval 'reranked'"):
        learn_reranking(Procrustes(), embeddings, pairs, retrieval="csls")
    with pytest.raises(ParameterError, match="1 or more teach, not 0"):
        learn_reranking(Procrustes(), embeddings, pairs, folds=0)


def test_compare_learns_unless_weights_are_fixed(small, fitted):
    embeddings, pairs, tests = small
    asked = ["csls", "reranked", "reranked:weights=learnt", "reranked:weights=fixed"]
    found = compare("procrustes", embeddings, pairs, tests, retrievals=asked, metrics=["p@1"])
    assert [run.error for run in found.runs] == [None]
    labels = [e.retrieval for e in found.runs[0].evaluations]
    assert labels == [
        *("csls", "reranked", "reranked(weights='learnt')", "reranked(weights='fixed')")
    ]
    ranks = [e.ranks for e in found.runs[0].evaluations]
    space = fitted.map(embeddings)
    for number, weights in ((1, "auto"), (2, "auto"), (3, "fixed")):
        retrieval = f"reranked:weights={weights}"
        expected = evaluate(space, "en", "es", tests["en", "es"], retrieval, metrics=["p@1"])
        assert np.array_equal(ranks[number], expected.ranks)

"""geomm_unsup, and what every mapper without a dictionary promises, on the demo's real words."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, compare, evaluate, get_mapper
from geomm_plugin.errors import DictionaryError, LanguagesError


@pytest.fixture(scope="module")
def fitted(demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    return get_mapper("geomm_unsup").fit(embeddings, {}), embeddings


def null_target(embeddings, seed):
    """Gaussian vectors with the real covariance: nothing to find."""
    vectors = embeddings.vectors.astype(np.float64)
    random = np.random.default_rng(seed)
    values, basis = np.linalg.eigh(np.cov(vectors.T))
    noise = random.normal(size=vectors.shape) * np.sqrt(np.maximum(values, 0))
    return Embeddings(embeddings.words, (noise @ basis.T).astype(np.float32))


def test_real_words_are_translated_without_a_dictionary(fitted, demo):
    mapper, embeddings = fitted
    scores = evaluate(mapper.map(embeddings), "en", "es", demo.test["en", "es"]).scores
    assert scores["p@1"] > 0.88
    assert all(counts.used == 0 for counts in mapper.report_.pairs.values())
    assert all(share > 0.85 for share in mapper.report_.recover.values())
    assert all(share > 0.5 for share in mapper.report_.witnessed.values())
    assert next(iter(mapper.report_.seeds.values())).startswith("gromov_wasserstein")


def test_a_target_without_translations_is_refused_with_the_ways_out(demo):
    embeddings = {"en": demo.embeddings["en"], "es": null_target(demo.embeddings["es"], 0)}
    mapper = get_mapper("geomm_unsup", seeds=("gromov_wasserstein",), on_failure="warn")
    with pytest.warns(UserWarning, match="seeds=cognates.*hundred pairs.*on_failure"):
        mapper.fit(embeddings, {})
    assert max(mapper.report_.witnessed.values()) < 0.02
    assert max(mapper.report_.recover.values()) < 0.5


def test_a_dictionary_is_refused_with_the_name_of_the_mapper_that_takes_one(demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    with pytest.raises(DictionaryError, match="geomm_plus"):
        get_mapper("geomm_unsup").fit(embeddings, demo.train)
    with pytest.raises(LanguagesError, match="two languages"):
        get_mapper("geomm_unsup").fit({"en": demo.embeddings["en"]}, {})


def test_compare_runs_both_kinds_in_one_table(demo):
    embeddings = {
        language: Embeddings(value.words[:1500], value.vectors[:1500])
        for language, value in demo.embeddings.items()
        if language != "it"
    }
    pair = {("en", "es"): demo.train["en", "es"]}
    both = ["procrustes", get_mapper("geomm_unsup", seeds=("identical",), on_failure="warn")]
    comparison = compare(both, embeddings, pair, {("en", "es"): demo.test["en", "es"]})
    assert [run.error for run in comparison.runs] == [None, None]
    supervised = comparison.runs[0].pairs_used
    (note,) = comparison.notes()
    assert note.startswith(f"Pairs used: procrustes {supervised:,}, geomm_unsup")
    assert supervised > 0 and note.endswith(" 0.")


def test_any_seed_starts_any_self_learning_mapper(demo):
    embeddings = {
        language: Embeddings(value.words[:2000], value.vectors[:2000])
        for language, value in demo.embeddings.items()
        if language != "it"
    }
    mapper = get_mapper("self_learning", mapper="msf", seeds=("identical",))
    assert not mapper.needs_dictionary
    mapper.fit(embeddings, {})
    space = mapper.map(embeddings)
    assert evaluate(space, "en", "es", demo.test["en", "es"]).scores["p@1"] > 0.8
    assert next(iter(mapper.report_.seeds.values())).startswith("identical")
    with pytest.raises(DictionaryError, match="without seeds"):
        mapper.fit(embeddings, demo.train)


def test_self_learning_from_a_dictionary_tells_recover_too(demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    few = {("en", "es"): demo.train["en", "es"][:100]}
    report = get_mapper("procrustes_semi", vocabulary=2000).fit(embeddings, few).report_
    assert report.kept_round and report.recover["en-es"] > 0.85
    plain = get_mapper("procrustes_semi", max_rounds=0).fit(embeddings, few)
    assert not plain.report_.recover, "the dictionary alone was learnt from"

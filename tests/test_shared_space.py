import numpy as np
import pytest

from geomm_plugin import (
    CSLS,
    Embeddings,
    SharedSpace,
    get_mapper,
    write_embeddings,
)
from geomm_plugin.errors import LanguagesError, ParameterError, UnknownNameError
from geomm_plugin.mappers import Procrustes
from geomm_plugin.retrieval import Cosine, Retrieval


@pytest.fixture
def space(toy):
    return toy.fit(Procrustes()).map(toy.embeddings)


def test_translate_finds_the_nearest_and_says_how_near(space):
    answers = space.translate("en7", "en", "es", k=3, retrieval="cosine")
    assert answers[0][0] == "es7"
    x, z = space["en"]["en7"], space["es"]["es7"]
    assert np.isclose(answers[0][1], x @ z / np.linalg.norm(x) / np.linalg.norm(z), atol=1e-5)
    scores = [score for _, score in answers]
    assert scores == sorted(scores, reverse=True) and len(answers) == 3


def test_several_words_at_once_are_the_words_one_by_one(space):
    together = space.translate(["en1", "en2"], "en", "es", k=2)
    assert together == [space.translate(word, "en", "es", k=2) for word in ("en1", "en2")]


def test_retrieval_is_a_name_or_an_object(space):
    by_name = space.translate("en1", "en", "es", retrieval="csls")
    assert by_name == space.translate("en1", "en", "es", retrieval=CSLS())
    assert by_name != space.translate("en1", "en", "es", retrieval=CSLS(k=2))
    with pytest.raises(UnknownNameError, match="no retrieval 'cosin'. Did you mean 'cosine'?"):
        space.translate("en1", "en", "es", retrieval="cosin")


def test_a_space_is_a_mapping(space):
    assert space.get("en") is space["en"]
    assert space.get("xx") is None and space.get("xx", 3) == 3


class Powers(Retrieval):
    """A retrieval of somebody's, who writes a constructor by hand."""

    name = "powers"

    def __init__(self, sign=1):
        self.sign = sign

    def index(self, source, target):
        return Cosine().index(source, self.sign * target)


def test_retrievals_with_other_parameters_are_others(space):
    near, far = (
        space.translate("en1", "en", "es", k=1, retrieval=Powers(sign)) for sign in (1, -1)
    )
    assert near != far
    assert (Powers().label, Powers(-1).label) == ("powers", "powers(sign=-1)")


def test_k_may_exceed_the_vocabulary(space):
    assert len(space.translate("en1", "en", "es", k=1000)) == 120


def test_csls_is_its_definition(space):
    x, z = space.unit_vectors("en").astype(float), space.unit_vectors("es").astype(float)
    cosines = x @ z.T
    r_target = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    scores = 2 * cosines - r_target[:, None] - r_source
    answers = space.translate("en5", "en", "es", k=120)
    for word, score in answers:
        assert np.isclose(score, scores[5, int(word[2:])], atol=1e-4)


def test_mapping_waits_until_vectors_are_asked_for(toy, tmp_path, monkeypatch):
    mapper = toy.fit(Procrustes())
    space = mapper.map(toy.embeddings)
    expected = mapper.transform("es", toy.embeddings["es"].vectors)
    write_embeddings(space["es"], tmp_path / "es.vec")
    assert space["es"].rows.stored is None, "export must not hold the mapped copy"
    assert np.array_equal(space["es"].vectors, expected)
    assert np.array_equal(space["es"]["es3"], expected[3])


def test_aligned_embeddings_make_a_space_by_themselves(space):
    again = SharedSpace({name: Embeddings(e.words, e.vectors) for name, e in space.items()})
    assert again.translate("en1", "en", "es") == space.translate("en1", "en", "es")
    assert list(again) == ["en", "es"] and len(again) == 2 and "en" in again


def test_errors(space):
    with pytest.raises(UnknownNameError, match="'dog' is not among the 120 words of en"):
        space.translate("dog", "en", "es")
    with pytest.raises(UnknownNameError, match="no language 'ens' in this space. Did you mean"):
        space["ens"]
    with pytest.raises(LanguagesError, match="one dimension; these differ"):
        SharedSpace({"a": (["x"], np.ones((1, 2))), "b": (["x"], np.ones((1, 3)))})


def test_keyedvectors_go_straight_in_and_come_back_out(demo):
    from geomm_adapters import from_keyedvectors, to_keyedvectors

    small = {language: demo.embeddings[language].head(2000) for language in ("en", "es")}
    keyed = {language: to_keyedvectors(value) for language, value in small.items()}
    assert list(keyed["en"].index_to_key) == list(small["en"].words)
    assert np.array_equal(from_keyedvectors(keyed["en"]).vectors, small["en"].vectors)
    train = {("en", "es"): demo.train["en", "es"]}
    for name in ("procrustes", "geomm"):
        space = get_mapper(name).fit(keyed, train).map(keyed)
        back = to_keyedvectors(space["es"])
        best = [word for word, _ in back.similar_by_vector(space["en"]["parliament"], topn=3)]
        assert "parlamento" in best


class Counted(Procrustes):
    """Counts the rows that are mapped, by language."""

    def transform(self, language, vectors):
        if not hasattr(self, "mapped"):
            self.mapped = {}
        self.mapped[language] = self.mapped.get(language, 0) + len(vectors)
        return super().transform(language, vectors)


def test_one_word_by_cosine_maps_one_row_of_its_language(toy):
    mapper = toy.fit(Counted())
    space = mapper.map(toy.embeddings)
    mapper.mapped.clear()
    answers = space.translate("en7", "en", "es", retrieval="cosine")
    assert mapper.mapped == {"en": 1, "es": 120}
    mapper.mapped.clear()
    space.translate(["en1", "en2", "en1"], "en", "es", retrieval="cosine")
    assert mapper.mapped == {"en": 3}, "targets are mapped once, and kept"
    space.unit_vectors("en")
    mapper.mapped.clear()
    again = space.translate("en7", "en", "es", retrieval="cosine")
    assert not mapper.mapped, "what is kept is not mapped again"
    assert [word for word, _ in again] == [word for word, _ in answers]
    assert np.allclose([s for _, s in again], [s for _, s in answers], atol=1e-6)


def test_the_most_frequent_words_alone_are_mapped_for_a_dictionary_of_them(toy):
    mapper = toy.fit(Counted())
    space = mapper.map(toy.embeddings)
    mapper.mapped.clear()
    pairs = space.dictionary("en", "es", max_words=30)
    assert mapper.mapped == {"en": 30, "es": 30}
    small = SharedSpace({name: space[name].head(30) for name in space})
    expected = small.dictionary("en", "es")
    assert [pair[:2] for pair in pairs] == [pair[:2] for pair in expected]


def test_vectors_that_are_not_finite_are_refused(toy):
    vectors = toy.embeddings["es"].vectors.copy()
    vectors[5, 2] = np.inf
    raw = toy.embeddings["en"]
    space = SharedSpace({"en": raw, "es": (toy.embeddings["es"].words, vectors)})
    with pytest.raises(ParameterError, match="row 5 of the es vectors has the length nan"):
        space.translate("en1", "en", "es")
    with pytest.raises(ParameterError, match="row 5 of the es vectors"):
        space.translate("es5", "es", "en", retrieval="cosine")

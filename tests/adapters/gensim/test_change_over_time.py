"""The functions that scripts for change over time paste: answers and side effects of their own."""

import copy

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from geomm_adapters import (
    intersection_align_gensim,
    smart_procrustes_align_gensim,
    to_keyedvectors,
)
from geomm_plugin import Embeddings, get_mapper, registry
from geomm_plugin.errors import DictionaryError, FormatError, GeommError
from geomm_plugin.normalize import unit

gensim = pytest.importorskip("gensim")
from gensim.models import FastText, KeyedVectors, Word2Vec  # noqa: E402

WORDS = [f"word{number}" for number in range(60)]


def keyed(words, vectors, counts=None):
    kv = KeyedVectors(vectors.shape[1])
    kv.add_vectors(words, vectors.astype(np.float32))
    for word, count in zip(words, [] if counts is None else counts, strict=False):
        kv.set_vecattr(word, "count", int(count))
    return kv


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def vectors(random):
    return random.normal(size=(60, 8)) * random.uniform(0.5, 3, (60, 1)) + 0.5


def rotation(random, dimension=8):
    return np.linalg.qr(random.normal(size=(dimension, dimension)))[0]


def sentences(random, words=WORDS):
    return [random.choice(words, 10).tolist() for _ in range(100)]


def test_a_rotated_copy_is_recovered_exactly(random, vectors):
    base, other = keyed(WORDS, vectors), keyed(WORDS, vectors @ rotation(random))
    aligned = smart_procrustes_align_gensim(base, other)
    assert aligned is other
    np.testing.assert_allclose(other.vectors, base.vectors, atol=1e-5)
    np.testing.assert_array_equal(base.vectors, vectors.astype(np.float32))
    assert other.similar_by_vector(base["word3"], topn=1)[0][0] == "word3"
    assert other.most_similar("word3")[0][0] == base.most_similar("word3")[0][0]


def test_the_map_is_scipys_of_the_common_words_at_length_1(random, vectors):
    base, other = keyed(WORDS[:50], vectors[:50]), keyed(WORDS[10:], random.normal(size=(50, 8)))
    x, z = np.array([other[w] for w in WORDS[10:50]]), np.array([base[w] for w in WORDS[10:50]])
    turn, _ = orthogonal_procrustes(unit(x).astype(float), unit(z).astype(float))
    smart_procrustes_align_gensim(base, other)
    assert base.index_to_key == other.index_to_key == WORDS[10:50]
    np.testing.assert_allclose(other.vectors, x @ turn, atol=1e-5)
    np.testing.assert_array_equal(base.vectors, z)


def test_the_intersection_is_in_order_of_summed_counts():
    one = keyed(["a", "b", "c", "d"], np.eye(4), [40, 30, 20, 10])
    other = keyed(["c", "x", "d", "a"], 2 * np.eye(4), [25, 9, 30, 5])
    one.fill_norms()
    pair = intersection_align_gensim(one, other)
    assert pair[0] is one and pair[1] is other
    assert one.index_to_key == other.index_to_key == ["a", "c", "d"]  # 45, 45, 40
    np.testing.assert_array_equal(one.vectors, np.eye(4)[[0, 2, 3]])
    np.testing.assert_array_equal(other.vectors, 2 * np.eye(4)[[3, 0, 2]])
    assert [other.get_vecattr(word, "count") for word in other.index_to_key] == [5, 25, 30]
    assert one.similar_by_key("c", topn=5)  # its norms are of the rows that are left
    assert intersection_align_gensim(one, other, words=["d", "a", "x"])[0].index_to_key == [
        "a",
        "d",
    ]
    one.add_vectors(["new"], np.ones((1, 4)))
    assert one.key_to_index["new"] == 2


def test_the_same_words_in_another_order_are_put_in_one_order(random, vectors):
    backwards = vectors[::-1] @ rotation(random)
    base, other = keyed(WORDS, vectors), keyed(WORDS[::-1], backwards)
    smart_procrustes_align_gensim(base, other)
    assert base.index_to_key == other.index_to_key == WORDS
    np.testing.assert_allclose(other.vectors, base.vectors, atol=1e-5)


def test_models_are_taken_like_their_vectors_and_can_be_saved(random, tmp_path):
    models = [
        Word2Vec(
            sentences(random, words), vector_size=8, min_count=1, epochs=1, workers=1, seed=seed
        )
        for seed, words in enumerate((WORDS[:50], WORDS[10:]))
    ]
    base, other = (copy.deepcopy(model.wv) for model in models)
    smart_procrustes_align_gensim(base, other)
    assert smart_procrustes_align_gensim(*models) is models[1]
    assert sorted(models[0].wv.index_to_key) == sorted(WORDS[10:50])
    counts = models[0].wv.expandos["count"] + models[1].wv.expandos["count"]
    assert (np.diff(counts) <= 0).all()
    np.testing.assert_array_equal(models[1].wv.vectors, other.vectors)
    models[1].save(str(tmp_path / "aligned.model"))
    loaded = Word2Vec.load(str(tmp_path / "aligned.model"))
    assert loaded.wv.most_similar("word20") == other.most_similar("word20")


def test_unseen_words_of_fasttext_are_turned_with_the_others(random):
    model = FastText(sentences(random), vector_size=8, min_count=1, bucket=100, epochs=1, workers=1)
    base = keyed(WORDS, model.wv[WORDS] @ rotation(random))
    seen, unseen = model.wv.vectors_vocab.copy(), model.wv["words99"]
    turn, _ = orthogonal_procrustes(unit(model.wv[WORDS]), unit(base[WORDS]))
    smart_procrustes_align_gensim(base, model, words=WORDS[:30])
    np.testing.assert_allclose(model.wv["words99"], unseen @ turn, atol=1e-4)
    assert model.wv.vectors_vocab.shape == (30, 8) != seen.shape


def test_unseen_words_of_mapped_vectors_are_turned_too(random, vectors):
    start = Embeddings(WORDS, vectors, subwords=lambda word: np.ones(8))
    other = to_keyedvectors(start)
    turn = rotation(random)
    smart_procrustes_align_gensim(keyed(WORDS, vectors @ turn), other)
    np.testing.assert_allclose(other["unseen"], np.ones(8) @ turn, atol=1e-5)


# Neither ablation of GeoMM looks for the rotation between two copies; CCA leaves directions out.
APART = ("metric_only", "rotation_only", "cca")
TURN = [name for name in registry.mappers if get_mapper(name).needs_dictionary]
TURN = [*sorted(set(TURN) - set(APART)), "cca:keep=1"]


@pytest.mark.parametrize("name", TURN)
def test_any_mapper_brings_a_rotated_copy_to_the_base(random, vectors, name):
    base, other = keyed(WORDS, vectors), keyed(WORDS, vectors @ rotation(random))
    smart_procrustes_align_gensim(base, other, mapper=name)
    cosines = np.sum(unit(base.vectors) * unit(other.vectors), axis=1)
    assert np.median(cosines) > 0.95


def test_a_mapper_that_is_given_is_not_fitted_itself(random, vectors):
    mapper = get_mapper("regression", regularization=1.0)
    base, other = keyed(WORDS, vectors), keyed(WORDS, vectors[:, :6])
    smart_procrustes_align_gensim(base, other, mapper=mapper)
    assert not hasattr(mapper, "matrices_") and mapper.normalize == ("unit", "center")
    assert other.vectors.shape == (60, 8) and other.vector_size == 8


def test_models_stay_as_they_were_where_nothing_can_be_learnt(vectors):
    base, other = keyed(WORDS, vectors), keyed([w.upper() for w in WORDS], vectors)
    with pytest.raises(DictionaryError, match=r"No word is in both models \(60 and 60 words\)\."):
        smart_procrustes_align_gensim(base, other)
    with pytest.raises(DictionaryError, match="and among the words given"):
        intersection_align_gensim(base, base, words=["unknown"])
    with pytest.raises(FormatError, match="A dict is no model of gensim"):
        smart_procrustes_align_gensim(base, {})
    broken = keyed(WORDS, np.full_like(vectors, np.nan))
    with pytest.raises(GeommError, match="NaN"):
        smart_procrustes_align_gensim(base, broken, words=WORDS[:9])
    assert base.index_to_key == broken.index_to_key == WORDS

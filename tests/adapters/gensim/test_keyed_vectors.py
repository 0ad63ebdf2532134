"""KeyedVectors in and out, against gensim itself."""

import numpy as np
import pytest

from geomm_adapters import align_keyedvectors, from_keyedvectors, to_keyedvectors
from geomm_plugin import Embeddings, get_mapper, identical_words, read_embeddings, write_embeddings
from geomm_plugin.dictionary import pair_up
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError, LanguagesError, UnknownNameError

gensim = pytest.importorskip("gensim")
from gensim.models import FastText, KeyedVectors, Word2Vec  # noqa: E402

SENTENCES = [["the", "dog", "barks", "at", "the", "cat"], ["a", "cat", "sees", "the", "dog"]] * 20


def toy(words=60, dimension=8, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    keyed_vectors = KeyedVectors(dimension, dtype=dtype)
    vectors = rng.standard_normal((words, dimension)).astype(dtype)
    keyed_vectors.add_vectors([f"word{n}" for n in range(words)], vectors)
    for n in range(words):
        keyed_vectors.set_vecattr(f"word{n}", "count", 1000 - 3 * n)
    return keyed_vectors


@pytest.fixture(scope="module")
def fasttext():
    return FastText(
        SENTENCES, vector_size=8, min_count=1, min_n=3, max_n=4, bucket=500, epochs=2, workers=1
    ).wv


def pairs(keyed_vectors):
    return [(word, word) for word in keyed_vectors.index_to_key]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_order_counts_and_type_survive_the_way_there_and_back(dtype):
    before = toy(dtype=dtype)
    after = to_keyedvectors(as_embeddings(before))
    assert after.index_to_key == before.index_to_key
    assert after.key_to_index == before.key_to_index
    assert after.vectors.dtype == dtype
    np.testing.assert_array_equal(after.vectors, before.vectors)
    for word in before.index_to_key:
        assert after.get_vecattr(word, "count") == before.get_vecattr(word, "count")


@pytest.mark.parametrize("mapper", ["procrustes", "geomm", "cca"])
def test_a_model_that_others_are_moved_into_stays_bit_for_bit(tmp_path, mapper):
    models = {"en": toy(), "es": toy(50, seed=1)}
    models["es"].save_word2vec_format(str(tmp_path / "before.bin"), binary=True)
    fitted = get_mapper(mapper).fit(models, {("en", "es"): pairs(models["es"])})
    space = fitted.map(models, into="es")
    assert to_keyedvectors(space["en"]).vectors.shape == models["en"].vectors.shape
    assert np.shares_memory(space["es"].vectors, models["es"].vectors)
    models["es"].save_word2vec_format(str(tmp_path / "after.bin"), binary=True)
    assert (tmp_path / "after.bin").read_bytes() == (tmp_path / "before.bin").read_bytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mapper", ["procrustes", "geomm"])
def test_aligned_keyedvectors_keep_order_counts_and_type(dtype, mapper):
    before = {"en": toy(dtype=dtype), "es": toy(50, dtype=dtype, seed=1)}
    after = align_keyedvectors(before, pairs(before["es"]), mapper)
    assert list(after) == ["en", "es"]
    for language in before:
        assert type(after[language]) is KeyedVectors
        assert after[language].index_to_key == before[language].index_to_key
        assert after[language].vectors.dtype == dtype
        counts = before[language].expandos["count"]
        np.testing.assert_array_equal(after[language].expandos["count"], counts)


def test_alignment_is_that_of_the_mapper():
    languages = {"en": toy(), "es": toy(seed=1), "it": toy(seed=2)}
    dictionaries = {("en", "es"): pairs(languages["es"]), ("it", "en"): pairs(languages["en"])}
    mapper = get_mapper("procrustes")
    after = align_keyedvectors(languages, dictionaries, mapper)
    for language, keyed_vectors in languages.items():
        expected = mapper.transform(language, keyed_vectors.vectors)
        np.testing.assert_allclose(after[language].vectors, expected, atol=1e-6)


def test_a_rotated_copy_is_found_again():
    before = toy()
    rotation = np.linalg.qr(np.random.default_rng(3).standard_normal((8, 8)))[0]
    other = KeyedVectors(8)
    other.add_vectors([word.upper() for word in before.index_to_key], before.vectors @ rotation)
    pairs = [(word, word.upper()) for word in before.index_to_key[:40]]
    after = align_keyedvectors({"a": before, "b": other}, pairs, "procrustes")
    for word in before.index_to_key[40:]:
        (found, cosine), *_ = after["b"].similar_by_vector(after["a"][word], topn=1)
        assert found == word.upper()
        assert cosine == pytest.approx(1, abs=1e-5)


def test_the_result_shares_no_memory_with_its_source():
    embeddings = Embeddings(["a", "b"], np.array([[3.0, 4.0], [0.0, 2.0]]))
    keyed_vectors = to_keyedvectors(embeddings)
    keyed_vectors.unit_normalize_all()
    np.testing.assert_array_equal(embeddings["a"], [3, 4])


def test_words_that_repeat_keep_their_first_row():
    embeddings = Embeddings(["a", "b", "a"], np.eye(3, dtype=np.float32))
    keyed_vectors = to_keyedvectors(embeddings)
    assert keyed_vectors.index_to_key == ["a", "b"]
    np.testing.assert_array_equal(keyed_vectors["a"], [1, 0, 0])
    assert [keyed_vectors.get_vecattr(word, "count") for word in "ab"] == [2, 1]


def test_without_counts_they_fall_as_in_a_file_that_gensim_reads(tmp_path):
    embeddings = Embeddings(["a", "b", "c"], np.eye(3, dtype=np.float32))
    keyed_vectors = to_keyedvectors(embeddings)
    keyed_vectors.save_word2vec_format(str(tmp_path / "x.vec"))
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "x.vec"))
    np.testing.assert_array_equal(read.expandos["count"], keyed_vectors.expandos["count"])
    keyed_vectors.sort_by_descending_frequency()
    assert keyed_vectors.index_to_key == ["a", "b", "c"]


def test_a_model_stands_for_its_vectors():
    model = Word2Vec(SENTENCES, vector_size=8, min_count=1, epochs=1, workers=1)
    embeddings = as_embeddings(model)
    assert embeddings.words == model.wv.index_to_key
    assert embeddings.vectors is model.wv.vectors
    assert embeddings.attributes["count"][0] == model.wv.get_vecattr(
        model.wv.index_to_key[0], "count"
    )


def test_subwords_give_unseen_words_the_vector_of_gensim(fasttext):
    embeddings = from_keyedvectors(fasttext)
    assert "doggish" not in embeddings
    np.testing.assert_array_equal(embeddings.vector("doggish"), fasttext["doggish"])
    np.testing.assert_array_equal(embeddings.vector("dog"), fasttext["dog"])
    with pytest.raises(UnknownNameError, match="no known subword"):
        embeddings.vector("")


def test_a_cut_vocabulary_still_has_the_trained_vector_of_the_words_left_out(fasttext):
    embeddings = from_keyedvectors(fasttext)
    last = embeddings.words[-1]
    assert last not in embeddings.head(2)
    np.testing.assert_array_equal(embeddings.head(2).vector(last), fasttext[last])


def test_mapped_fasttext_vectors_know_unseen_words(fasttext):
    other = toy(len(fasttext), seed=5)
    words = list(zip(fasttext.index_to_key, other.index_to_key, strict=True))
    mapper = get_mapper("geomm", regularization=1.0)
    after = align_keyedvectors({"en": fasttext, "es": other}, words, mapper)["en"]
    expected = mapper.transform("en", fasttext["doggish"][None])[0]
    np.testing.assert_allclose(after["doggish"], expected, rtol=1e-5)
    assert "doggish" in after and "" not in after
    assert not after.has_index_for("doggish")
    assert np.linalg.norm(after.get_vector("doggish", norm=True)) == pytest.approx(1)
    assert after.most_similar("doggish", topn=1)
    with pytest.raises(KeyError, match="no known subword"):
        after[""]


def test_a_fasttext_model_without_ngrams_has_no_vector_for_unseen_words():
    model = FastText(SENTENCES, vector_size=8, min_count=1, max_n=0, epochs=1, workers=1)
    with pytest.raises(UnknownNameError, match="'doggish'"):
        as_embeddings(model).vector("doggish")


def test_a_list_of_pairs_needs_two_languages():
    languages = {"en": toy(), "es": toy(), "it": toy()}
    with pytest.raises(LanguagesError, match="belongs to two languages; there are 3"):
        align_keyedvectors(languages, [("word1", "word1")])


def test_keyedvectors_are_paired_up_and_written_as_they_are(tmp_path):
    keyed_vectors = toy(words=5)
    assert identical_words(keyed_vectors, keyed_vectors) == pairs(keyed_vectors)
    assert len(pair_up(pairs(keyed_vectors), keyed_vectors, keyed_vectors)) == 5
    write_embeddings(keyed_vectors, tmp_path / "x.vec")
    read = read_embeddings(tmp_path / "x.vec")
    assert read.words == keyed_vectors.index_to_key
    assert np.array_equal(read.vectors, keyed_vectors.vectors)


@pytest.mark.parametrize("name", ["x.kv", "x.model", "x", "x.bin", "x.wordvectors"])
def test_pickles_are_refused_with_what_to_do(tmp_path, name):
    model = Word2Vec([["dog", "cat"], ["cow", "dog"]], vector_size=4, min_count=1)
    for saved in (model, model.wv):
        saved.save(str(tmp_path / name))
        with pytest.raises(FormatError, match=r"KeyedVectors\.load.*save_word2vec_format"):
            read_embeddings(tmp_path / name)
    opened = KeyedVectors.load(str(tmp_path / name))
    opened.save_word2vec_format(str(tmp_path / "x.vec"))
    assert len(read_embeddings(tmp_path / "x.vec")) == 3

"""The drop-in for gensim's TranslationMatrix, side by side with gensim's own."""

import unittest
import warnings
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from geomm_adapters import TranslationMatrix
from geomm_adapters.gensim.translation_matrix import Space
from geomm_plugin import Cosine, Embeddings, get_mapper, registry
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import (
    DictionaryError,
    FileError,
    FormatError,
    GeommError,
    NotFittedError,
)
from geomm_plugin.files.stamps import sha256_of_arrays
from geomm_plugin.files.trust import read_arrays
from geomm_plugin.normalize import unit

gensim = pytest.importorskip("gensim")
from gensim.models import FastText, KeyedVectors, translation_matrix  # noqa: E402
from gensim.test.utils import datapath  # noqa: E402

# The example of gensim's documentation.
WORD_PAIRS = [
    ("one", "uno"), ("two", "due"), ("three", "tre"), ("four", "quattro"), ("five", "cinque"),
    ("seven", "sette"), ("eight", "otto"),
    ("dog", "cane"), ("pig", "maiale"), ("fish", "cavallo"), ("birds", "uccelli"),
    ("apple", "mela"), ("orange", "arancione"), ("grape", "acino"), ("banana", "banana"),
]  # fmt: skip


def geomm():
    return get_mapper("geomm", regularization=1.0)  # what it would choose here, but takes longer


@pytest.fixture(scope="module")
def model_en():
    return KeyedVectors.load_word2vec_format(
        datapath("EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt")
    )


@pytest.fixture(scope="module")
def model_it():
    return KeyedVectors.load_word2vec_format(
        datapath("IT.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt")
    )


@pytest.fixture(scope="module")
def trained(model_en, model_it):
    return TranslationMatrix(model_en, model_it, WORD_PAIRS, mapper=geomm())


@pytest.mark.parametrize("gc", [0, 1])
def test_the_documented_example_has_the_same_shape_and_types_of_answers(model_en, model_it, gc):
    answers = []
    for kind in (translation_matrix.TranslationMatrix, TranslationMatrix):
        trans_model = kind(model_en, model_it, word_pairs=WORD_PAIRS, random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gensim warns of each default
            answers.append(trans_model.translate(["dog", "one"], topn=3, gc=gc, sample_num=5))
        assert trans_model.translation_matrix.shape == (300, 300)
        assert trans_model.source_word == tuple(source for source, _ in WORD_PAIRS)
    theirs, ours = answers
    assert type(ours) is type(theirs) is OrderedDict
    assert list(ours) == list(theirs) == ["dog", "one"]
    for word in ours:
        assert type(ours[word]) is type(theirs[word]) is list
        assert len(ours[word]) == len(theirs[word]) == 3
        assert all(type(found) is str for found in ours[word])
    if not gc:
        assert [ours[word][0] for word in ours] == [theirs[word][0] for word in ours]


def test_gensims_own_tests_pass_with_ours_in_its_place(monkeypatch):
    from gensim.test import test_translation_matrix

    class Ours(TranslationMatrix):
        def __init__(self, source, target, pairs=None, mapper=None):
            super().__init__(source, target, pairs, mapper=mapper or geomm())

    monkeypatch.setattr(translation_matrix, "TranslationMatrix", Ours)
    result = unittest.TestResult()
    # gensim expects test_translate_gc to fail, at least now and then; ours passes it always.
    for name in ("translation_matrix", "persistence", "translate_nn", "translate_gc"):
        test_translation_matrix.TestTranslationMatrix(f"test_{name}").run(result)
    assert result.testsRun == 4
    assert not result.failures and not result.errors


@pytest.mark.parametrize(
    "name", sorted(name for name in registry.mappers if get_mapper(name).needs_dictionary)
)
def test_every_mapper_can_be_swapped_in(model_en, model_it, name):
    answers = TranslationMatrix(model_en, model_it, WORD_PAIRS, mapper=name).translate(
        "dog", topn=3
    )
    assert "cane" in answers["dog"]


def test_untrained_words_are_translated_better_than_by_gensim(model_en, model_it, trained):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = translation_matrix.TranslationMatrix(model_en, model_it, WORD_PAIRS)
        theirs = theirs.translate(["ten", "cat"], topn=20)
    ours = trained.translate(["ten", "cat"], topn=20)
    for word, translation in [("ten", "dieci"), ("cat", "gatto")]:
        assert ours[word].index(translation) < theirs[word].index(translation)


def test_gc_is_csls_over_all_source_words(trained):
    words = ["ten", "cat", "dog"]
    assert trained.translate(words, gc=1) == trained.translate(words, retrieval="csls")
    assert trained.translate(words) == trained.translate(words, retrieval=Cosine())
    everything = len(trained.source_lang_vec)
    assert trained.translate(words, gc=1, sample_num=everything) == trained.translate(words, gc=1)


def test_a_sample_repeats_with_its_seed(model_en, model_it):
    answers = [
        TranslationMatrix(model_en, model_it, WORD_PAIRS, seed, geomm()).translate(
            ["ten", "cat"], topn=20, gc=1, sample_num=4
        )
        for seed in (3, 3, np.random.RandomState(3))
    ]
    assert answers[0] == answers[1]
    assert list(answers[2]) == ["ten", "cat"]


def test_products_of_mapped_vectors_are_the_scores_of_the_mapper(trained, model_en, model_it):
    source = Space.build(model_en, ["ten", "cat"])
    source.normalize()
    target = Space.build(model_it)
    target.normalize()
    mapper = trained.mapper
    x = mapper.normalizer_.transform("source", source.mat)
    z = mapper.normalizer_.transform("target", target.mat)
    mapped = trained.apply_transmat(source)
    assert mapped.index2word == ["ten", "cat"]
    np.testing.assert_allclose(mapped.mat, x @ trained.translation_matrix, rtol=1e-4, atol=1e-5)
    scores = mapper.transform("source", source.mat) @ mapper.transform("target", target.mat).T
    np.testing.assert_allclose(mapped.mat @ z.T, scores, rtol=1e-4, atol=1e-5)


def test_spaces_are_gensims(trained, model_en):
    theirs = translation_matrix.Space.build(model_en, ["ten", "cat"])
    ours = Space.build(model_en, ["ten", "cat"])
    theirs.normalize()
    ours.normalize()
    np.testing.assert_allclose(ours.mat, theirs.mat, rtol=1e-5)
    assert ours.word2index == theirs.word2index
    mapped = trained.apply_transmat(theirs)
    assert type(mapped) is translation_matrix.Space
    np.testing.assert_allclose(mapped.mat, trained.apply_transmat(ours).mat, atol=1e-6)


def test_other_vectors_of_the_same_languages_can_be_given(trained, model_en, model_it):
    words = model_it.index_to_key[::-1]
    fewer = Embeddings(words[:5], np.stack([model_it[word] for word in words[:5]]))
    answers = trained.translate("dog", topn=20, target_lang_vec=fewer)
    assert sorted(answers["dog"]) == sorted(fewer.words)
    renamed = Embeddings(["hound"], model_en["dog"][None])
    assert (
        trained.translate("hound", source_lang_vec=renamed)["hound"]
        == trained.translate("dog")["dog"]
    )


def test_save_and_load_without_pickle(tmp_path, trained, model_en):
    path = tmp_path / "transmat-en-it.pkl"
    path.write_bytes(b"something old")
    trained.save(str(path))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    loaded = TranslationMatrix.load(str(path))
    np.testing.assert_array_equal(loaded.translation_matrix, trained.translation_matrix)
    assert loaded.translate(["ten", "cat"], gc=1) == trained.translate(["ten", "cat"], gc=1)
    assert type(loaded.source_lang_vec) is KeyedVectors
    assert loaded.source_lang_vec.index_to_key == model_en.index_to_key
    np.testing.assert_array_equal(
        loaded.source_lang_vec.expandos["count"], model_en.expandos["count"]
    )
    assert loaded.source_word == trained.source_word
    assert loaded.mapper.report_ == replace(trained.mapper.report_, cpu_seconds=None)


def test_saved_models_take_subwords_from_the_fasttext_model_again(tmp_path):
    sentences = [["dogs", "bark", "at", "cats"], ["cats", "see", "dogs"]] * 10
    source = FastText(sentences, vector_size=4, min_count=1, bucket=100, epochs=1, workers=1).wv
    target = Embeddings(["a", "b", "c", "d", "e"], np.random.default_rng(0).random((5, 4)))
    pairs = list(zip(source.index_to_key, target.words, strict=True))
    model = TranslationMatrix(source, target, pairs, mapper="procrustes")
    model.save(tmp_path / "model")
    loaded = TranslationMatrix.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.source_lang_vec["dogs"], source["dogs"])
    assert type(loaded.target_lang_vec) is Embeddings
    with pytest.raises(KeyError, match="'unseen'"):
        loaded.translate("unseen")
    again = loaded.translate("unseen", source_lang_vec=source)
    assert again == model.translate("unseen")


def test_every_changed_byte_is_found_or_changes_nothing(tmp_path, trained):
    path = tmp_path / "model"
    trained.save(path)
    content = path.read_bytes()
    for place in range(0, len(content), 499):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            loaded = TranslationMatrix.load(path)
        except GeommError as error:
            assert str(path) in str(error)
        else:
            assert loaded.translate(["ten", "cat"]) == trained.translate(["ten", "cat"])


@pytest.mark.parametrize(
    "changes",
    [{"words": "[]"}, {"words": "5"}, {"words": "[" * 9999}, {"keyed_vectors": "5"},
     {"mapper": "{}"}, {"mapper": ""}, {"keyed_vectors": ""}],
)  # fmt: skip
def test_remarks_that_are_not_its_own_are_refused(tmp_path, trained, changes):
    trained.save(tmp_path / "model")
    header, arrays = read_arrays(tmp_path / "model")
    del header["sha256"]
    header |= changes
    header["sha256"] = sha256_of_arrays(arrays, header)
    save_file(arrays, tmp_path / "model", header)
    with pytest.raises(FormatError, match="model"):
        TranslationMatrix.load(tmp_path / "model")


def test_a_file_of_something_else_is_refused(tmp_path):
    with pytest.raises(FileError, match="There is no file"):
        TranslationMatrix.load(tmp_path / "nothing")
    pickled = tmp_path / "pickled"
    KeyedVectors(2).save(str(pickled))
    with pytest.raises(FormatError, match="is a pickle, which is not read"):
        TranslationMatrix.load(pickled)
    save_file({"a": np.zeros(2)}, tmp_path / "arrays")
    with pytest.raises(FormatError, match="not those of a TranslationMatrix"):
        TranslationMatrix.load(tmp_path / "arrays")


def test_unknown_words_are_key_errors_as_in_gensim(trained):
    with pytest.raises(KeyError) as caught:
        trained.translate("snark")
    assert str(caught.value).startswith("The word 'snark' is not among")
    with pytest.raises(KeyError):
        trained.translate("snark", gc=1, sample_num=3)


def test_pairs_outside_the_vocabularies_are_left_out(model_en, model_it):
    more = TranslationMatrix(
        model_en, model_it, [*WORD_PAIRS, ("snark", "uno"), ("one", "squalo")], mapper="procrustes"
    )
    less = TranslationMatrix(model_en, model_it, WORD_PAIRS, mapper="procrustes")
    np.testing.assert_array_equal(more.translation_matrix, less.translation_matrix)
    assert sorted(more.source_space.index2word) == sorted(source for source, _ in WORD_PAIRS)
    lengths = np.linalg.norm(more.target_space.mat, axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


@pytest.mark.parametrize("pairs", [[("one", "uno", "eins")], [], ["un"]])
def test_what_is_no_pair_is_refused(model_en, model_it, pairs):
    with pytest.raises(DictionaryError, match="must be a pair"):
        TranslationMatrix(model_en, model_it, pairs)


def test_translating_before_training_says_what_to_do(model_en, model_it):
    with pytest.raises(NotFittedError, match="call train"):
        TranslationMatrix(model_en, model_it).translate("dog")


def test_anything_with_words_and_vectors_will_do(model_en, model_it, trained):
    plain = TranslationMatrix(
        {word: model_en[word] for word in model_en.index_to_key},
        as_embeddings(model_it),
        WORD_PAIRS,
        mapper=geomm(),
    )
    assert plain.translate(["ten", "cat"]) == trained.translate(["ten", "cat"])
    space = Space.build({"a": np.array([3.0, 4.0])})
    np.testing.assert_array_equal(unit(space.mat), [[0.6, 0.8]])

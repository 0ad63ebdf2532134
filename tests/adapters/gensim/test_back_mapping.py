"""The drop-in for gensim's BackMappingTranslationMatrix, and files that gensim itself saves."""

import unittest
from types import SimpleNamespace

import numpy as np
import pytest

from geomm_adapters import BackMappingTranslationMatrix
from geomm_plugin import get_mapper, read_embeddings
from geomm_plugin.errors import DictionaryError, FormatError, NotFittedError

gensim = pytest.importorskip("gensim")
from gensim.models import KeyedVectors, Word2Vec, translation_matrix  # noqa: E402


def test_gensims_own_tests_pass_with_ours_in_its_place(monkeypatch):
    from gensim.test import test_translation_matrix

    monkeypatch.setattr(
        translation_matrix, "BackMappingTranslationMatrix", BackMappingTranslationMatrix
    )
    tests = test_translation_matrix.TestBackMappingTranslationMatrix
    # gensim skips this one as flaky; with models of fixed seeds it is not.
    monkeypatch.setattr(tests, "test_infer_vector", tests.test_infer_vector.__wrapped__)
    result = unittest.TestResult()
    for name in ("test_translation_matrix", "test_infer_vector"):
        tests(name).run(result)
    assert result.testsRun == 2 and not result.skipped
    assert not result.failures and not result.errors


class Model:
    """Vectors of documents, as Doc2Vec gives them."""

    def __init__(self, vectors):
        self.dv = self
        self.vectors = vectors

    def __getitem__(self, tags):
        return self.vectors[tags]


DOCUMENTS = [SimpleNamespace(tags=[number]) for number in range(40)]


def test_a_rotated_model_is_brought_back():
    random = np.random.default_rng(0)
    old = random.normal(size=(60, 8))
    rotation = np.linalg.qr(random.normal(size=(8, 8)))[0]
    new = old @ rotation
    model = BackMappingTranslationMatrix(Model(old), Model(new), DOCUMENTS)
    assert np.allclose(model.infer_vector(new[50]), old[50])
    assert np.allclose(new[50] @ model.translation_matrix, old[50])
    theirs = translation_matrix.BackMappingTranslationMatrix(Model(old), Model(new), DOCUMENTS)
    assert np.allclose(model.translation_matrix, theirs.translation_matrix)
    assert model.train(DOCUMENTS[:9]) is model.translation_matrix
    other = BackMappingTranslationMatrix(Model(old), Model(new), DOCUMENTS, mapper="geomm")
    assert other.infer_vector(new[50]).shape == (8,)
    same = get_mapper("procrustes", normalize=())
    chosen = BackMappingTranslationMatrix(Model(old), Model(new), DOCUMENTS, mapper=same)
    assert np.array_equal(chosen.translation_matrix, model.train(DOCUMENTS))


def test_what_cannot_be_learnt_is_told():
    model = BackMappingTranslationMatrix(Model(np.eye(3)), Model(np.eye(3)))
    with pytest.raises(NotFittedError, match="call train"):
        model.infer_vector(np.ones(3))
    with pytest.raises(DictionaryError, match="no document"):
        model.train([])


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

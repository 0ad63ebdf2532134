"""GloVe's text, against gensim's reader of files without a header."""

import re

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.errors import FormatError


@pytest.fixture
def embeddings():
    vectors = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    return Embeddings(["the", "naïve", "日本", ","], vectors)


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # by gensim
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["x.glove", "x.glove.txt", "x.glove.txt.gz"])
def test_gensim_reads_what_we_write_and_so_do_we(tmp_path, embeddings, name):
    models = pytest.importorskip("gensim.models")
    write_embeddings(embeddings, tmp_path / name)
    theirs = models.KeyedVectors.load_word2vec_format(str(tmp_path / name), no_header=True)
    ours = read_embeddings(tmp_path / name)
    assert theirs.index_to_key == ours.words == embeddings.words
    np.testing.assert_array_equal(theirs.vectors, embeddings.vectors)
    np.testing.assert_array_equal(ours.vectors, embeddings.vectors)


def test_the_first_line_is_a_word(tmp_path, embeddings):
    write_embeddings(embeddings, tmp_path / "x.txt", format="glove")
    lines = (tmp_path / "x.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split(" ")[0] for line in lines] == embeddings.words
    assert read_embeddings(tmp_path / "x.txt").words == embeddings.words


@pytest.mark.parametrize("word", ["windows 95", "a +5", "7 8", "x 1 2"])
def test_a_first_word_that_would_not_read_back_is_refused(tmp_path, word):
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = tmp_path / "x.glove"
    with pytest.raises(FormatError, match=f"first word {re.escape(repr(word))} would be read"):
        write_embeddings(Embeddings([word, "dog"], vectors), path)
    assert not path.exists()
    write_embeddings(Embeddings(["dog", word], vectors), path)  # "write it further down"
    assert read_embeddings(path).words == ["dog", word]
    write_embeddings(Embeddings([word, "dog"], vectors), tmp_path / "x.vec")  # "or a .vec file"
    assert read_embeddings(tmp_path / "x.vec").words == [word, "dog"]

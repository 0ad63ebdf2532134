"""GloVe's text, against gensim's reader of files without a header."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings


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

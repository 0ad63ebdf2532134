import copy
import pickle

import numpy as np
import pytest

from geomm_plugin import Embeddings
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError, UnknownNameError


def test_words_rows_and_vectors():
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    embeddings = Embeddings(["a", "b", "a"], vectors)
    assert embeddings.vectors is vectors
    assert embeddings.row_of == {"a": 0, "b": 1}
    assert embeddings["b"].tolist() == [2, 3]
    assert "b" in embeddings and "c" not in embeddings
    assert len(embeddings) == 3 and embeddings.dimension == 2
    assert np.array_equal(np.concatenate(list(embeddings.blocks(2))), vectors)
    assert embeddings.head(1).words == ["a"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floating_types_are_kept_and_whole_numbers_become_float32(dtype):
    assert Embeddings(["a"], np.ones((1, 2), dtype)).vectors.dtype == dtype
    assert Embeddings(["a"], np.ones((1, 2), int)).vectors.dtype == np.float32


def test_as_embeddings_understands_mappings_and_pairs():
    embeddings = Embeddings(["a"], np.ones((1, 2)))
    assert as_embeddings(embeddings) is embeddings
    assert as_embeddings({"a": [1, 2], "b": [3, 4]})["b"].tolist() == [3, 4]
    assert as_embeddings((["a"], [[1.0, 2.0]]))["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        {"a": [1.0, 2], "b": [1.0]},
        {"a": [1.0, 2], "b": [[1.0, 2]]},
        {"a": [1.0, 2], "b": ["x", "y"]},
        {"a": [1.0, 2], "b": None},
    ],
)
def test_a_mapping_with_an_odd_vector_names_its_word(source):
    with pytest.raises(FormatError, match="The vector of 'b'"):
        as_embeddings(source)


@pytest.mark.parametrize(
    "vectors", [[[1.0, 2], [1.0]], [["x"], ["y"]], [[1], [object()]], [[10**400]]]
)
def test_vectors_are_a_table_of_numbers(vectors):
    with pytest.raises(FormatError, match="a table of numbers, one row per word"):
        as_embeddings((["a", "b"], vectors))


def test_distinct_words_keep_their_first_vector_and_attribute():
    vectors, counts = np.arange(8.0).reshape(4, 2), np.array([9, 8, 7, 6])
    embeddings = Embeddings(["b", "a", "b", "c"], vectors, {"count": counts})
    kept = embeddings.distinct()
    assert kept.words == ["b", "a", "c"] and kept.vectors.tolist() == [[0, 1], [2, 3], [6, 7]]
    assert kept.attributes["count"].tolist() == [9, 8, 6]
    assert kept.distinct() is kept
    made = Embeddings(embeddings.words, vectors, subwords=lambda word: np.ones(2)).distinct()
    assert made.words == ["b", "a", "c"] and made.vector("new").tolist() == [1, 1]


def test_errors():
    with pytest.raises(FormatError, match="2 words and 1 vectors"):
        Embeddings(["a", "b"], np.ones((1, 2)))
    with pytest.raises(FormatError, match="one row per word"):
        Embeddings(["a"], np.ones(2))
    with pytest.raises(FormatError, match="read a file with read_embeddings"):
        as_embeddings("wiki.en.vec")
    with pytest.raises(UnknownNameError, match="'z' is not among these 1 words"):
        Embeddings(["a"], np.ones((1, 2)))["z"]


def test_embeddings_can_be_sent_to_another_process_and_hold_ordinary_texts():
    embeddings = Embeddings(np.array(["a", "b"]), np.eye(2))
    assert [type(word) for word in embeddings.words] == [str, str]
    for copied in (pickle.loads(pickle.dumps(embeddings)), copy.deepcopy(embeddings)):
        assert copied.words == ["a", "b"] and np.array_equal(copied.vectors, embeddings.vectors)


@pytest.mark.parametrize("words", [[b"a", b"b"], [1, 2], ["a", None], ["a", ("b",)]])
def test_words_that_are_not_text_are_refused(words):
    with pytest.raises(FormatError, match=r"Words are texts; the word of row \d is "):
        Embeddings(words, np.eye(2))
    with pytest.raises(FormatError, match="Words are texts"):
        as_embeddings(dict(zip(words, np.eye(2), strict=True)))


def test_words_of_an_array_are_texts():
    assert Embeddings(np.array(["a", "b"]), np.eye(2)).words == ["a", "b"]
    assert Embeddings([np.str_("a")], np.ones((1, 1))).row_of == {"a": 0}

"""What fuzzing found: each of these once crashed, or was read wrong without a word."""

import gzip
import json

import numpy as np
import pytest
from safetensors.numpy import save
from test_binary_files import TENSORS, TOKENIZER, VECTORS, npy, npz, word2vec

from geomm_plugin import (
    Embeddings,
    read_dictionary,
    read_embeddings,
    write_embeddings,
)
from geomm_plugin.cli.plot import _read_rows
from geomm_plugin.errors import DictionaryError, FileError, FormatError
from geomm_plugin.evaluation.analogy import read_analogies
from geomm_plugin.evaluation.similarity import read_similarity

WORDS = {"vectors": np.zeros((2, 2), np.float32), "words": np.frombuffer(b"abc", np.uint8)}


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def header(changes, vectors=WORDS["vectors"]):
    """Make a safetensors file of two words with another description of its vectors."""
    content = save(WORDS | {"vectors": vectors, "word_ends": np.array([1, 2])})
    length = int.from_bytes(content[:8], "little")
    described = json.loads(content[8 : 8 + length])
    described["vectors"] |= changes
    text = json.dumps(described).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.vec", b"9" * 5000 + b" 3\nw 1 2 3\n", "promises"),
        ("a.vec", b"3 " + b"9" * 5000 + b"\nw 1 2 3\n", "line 1"),
        ("a.bin", b"1000000000000 300\nw 1", "0 of 1000000000000 words are there"),
        ("a.bin", b"2 0\na b ", "vectors of 0 numbers"),
        ("a.bin", word2vec().replace(b"6 4", b"5 4", 1), "promises 5 words .* but more follows"),
        ("a.npy", npz(), "an archive .* not a numpy array"),
        ("a.npy", npz()[:60], "an archive"),
        ("a.npy", npy(np.array(["1", "2"])), "holds <U1, not numbers"),
        ("a.npy", npy(VECTORS.astype(np.complex64)), "holds complex64"),
        ("a.npy", npy(np.zeros(6, [("a", "f4")])), "not numbers"),
        ("a.safetensors", header({"dtype": ["F32"]}), "not a whole file"),
        ("a.safetensors", header({"shape": [10**30, 0]}, VECTORS[:, :0].copy()), "not a whole"),
        ("a.safetensors", save(WORDS | {"word_ends": np.array([2**63 - 1, -2])}), "out of order"),
    ],
)
def test_files_of_vectors(tmp_path, name, content, message):
    path = written(tmp_path, name, content)
    path.with_suffix(".vocab").write_bytes(b"a\nb\nc\nd\ne\nf\n")
    with pytest.raises(FormatError, match=message):
        read_embeddings(path)


def test_word2vec_files_with_more_than_promised_are_read_on_demand(tmp_path):
    path = written(tmp_path, "a.bin", word2vec().replace(b"6 4", b"5 4", 1))
    assert len(read_embeddings(path, max_words=5)) == 5


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"vocab": {"dog": 99}}},
        {"model": {"vocab": {"dog": -1}}},
        {"model": {"vocab": {"dog": 1, "cat": 1}}},
        {"model": {"vocab": {"dog": "1"}}},
        {"model": {"vocab": [["dog"]]}},
        {"model": {"vocab": {"dog": 1}, "unk_token": []}},
        {"model": []},
        {"added_tokens": [5]},
        {"added_tokens": {"content": "dog"}},
        {"pre_tokenizer": {"type": "None of these"}},
    ],
)
def test_tokenizers_of_static_models(tmp_path, change):
    pytest.importorskip("tokenizers")
    (tmp_path / "model.safetensors").write_bytes(save(TENSORS[0]))
    (tmp_path / "tokenizer.json").write_text(json.dumps(TOKENIZER | change))
    with pytest.raises(FormatError, match="Fetch it again"):
        read_embeddings(tmp_path)


@pytest.mark.parametrize("tensors", TENSORS[3:])
def test_tensors_of_static_models(tmp_path, tensors):
    (tmp_path / "model.safetensors").write_bytes(save(tensors))
    (tmp_path / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    with pytest.raises(FormatError, match=str(tmp_path)):
        read_embeddings(tmp_path)


def test_static_models_of_types_that_numpy_does_not_have(tmp_path):
    text = b'{"embeddings":{"dtype":"BF16","shape":[4,1],"data_offsets":[0,8]}}'
    content = len(text).to_bytes(8, "little") + text + bytes(8)
    (tmp_path / "model.safetensors").write_bytes(content)
    (tmp_path / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    with pytest.raises(FormatError, match="bfloat16"):
        read_embeddings(tmp_path)


@pytest.mark.parametrize("name", ["vectors", "key2row", "strings.json", "vectors.cfg"])
def test_folders_of_spacy(tmp_path, name):
    pytest.importorskip("spacy")
    write_embeddings(Embeddings(["a", "b"], np.eye(2)), tmp_path / "good", format="spacy")
    (tmp_path / "good" / "vocab" / name).write_bytes(b"\x92\x01\xc1")
    with pytest.raises(FormatError, match=str(tmp_path)):
        read_embeddings(tmp_path / "good")


@pytest.mark.parametrize("rows", [{"a": 7, "b": 1}, {"a": -1, "b": 0}])
def test_rows_that_a_table_of_spacy_does_not_have(tmp_path, rows):
    pytest.importorskip("spacy")
    import srsly
    from spacy.strings import get_string_id

    write_embeddings(Embeddings(["a", "b"], np.eye(2)), tmp_path / "good", format="spacy")
    keys = {get_string_id(word): row for word, row in rows.items()}
    srsly.write_msgpack(tmp_path / "good" / "vocab" / "key2row", keys)
    with pytest.raises(FormatError, match=str(tmp_path)):
        read_embeddings(tmp_path / "good")


def test_a_bad_line_behind_the_words_asked_for(tmp_path):
    first = b"24 " + b"4 " * 27 + b"3\n"
    path = written(tmp_path, "a.vec", first + b"dog 0.1257 -0.1321 0.6404\n" * 2)
    assert read_embeddings(path, max_words=1).words == ["24"]
    with pytest.raises(FormatError, match="line 2: expected 28 numbers, found 3"):
        read_embeddings(path, max_words=2)
    path = written(tmp_path, "b.vec", b"1 28\n" + first + b"dog 1\n" * 2)
    with pytest.raises(FormatError, match="promises 1 words, but the file holds 3"):
        read_embeddings(path)


def test_dictionaries(tmp_path):
    packed = bytearray(gzip.compress(b"dog perro\n" * 99))
    packed[12] ^= 255  # zlib has an error of its own
    with pytest.raises(FileError, match="Cannot read "):
        read_dictionary(written(tmp_path, "a.txt.gz", packed))
    with pytest.raises(DictionaryError, match="line 1: it holds a zero byte; .* UTF-16"):
        read_dictionary(written(tmp_path, "a.txt", "dog perro\n".encode("utf-16")))


@pytest.mark.parametrize("score", ["nan", "inf", "-Infinity", "1e400"])
def test_scores_that_are_not_finite(tmp_path, score):
    content = f"a b 1\na b {score}\n".encode()
    with pytest.raises(DictionaryError, match="line 2: expected a word, a word and a number"):
        read_similarity(written(tmp_path, "a.txt", content))


def test_a_word_of_an_analogy_may_hold_other_spaces(tmp_path):
    path = written(tmp_path, "a.txt", "New\u00a0York USA\tOslo Norway\n".encode())
    assert read_analogies(path) == {"all": [("New\u00a0York", "USA", "Oslo", "Norway")]}


@pytest.mark.parametrize(
    "change", [{"p@1": "high"}, {"p@1": True}, {"p@1": 1e400}, {"mapper": []}, {"p@1_low": None}]
)
def test_rows_of_scores(tmp_path, change):
    row = {"mapper": "a", "pair": "x-y", "retrieval": "csls", "p@1": 0.5} | change
    path = written(tmp_path, "rows.json", json.dumps([row]).encode())
    with pytest.raises(FormatError, match="not a list of scores"):
        _read_rows(path)

"""The native format: any word and every bit come back, rows are not read before they are used."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from geomm_adapters.safetensors_file import SafetensorsFile
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.formats import read_embeddings, write_embeddings


@pytest.fixture
def toy():
    vectors = np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)
    return Embeddings([f"w{i}" for i in range(300)], vectors)


@pytest.fixture
def path(tmp_path, toy):
    write_embeddings(toy, tmp_path / "toy.safetensors")
    return tmp_path / "toy.safetensors"


def test_words_and_bits_come_back(path, toy):
    read = read_embeddings(path)
    assert read.words == toy.words
    assert np.array_equal(read.vectors.view("u4"), toy.vectors.view("u4"))


@given(st.lists(st.text(st.characters(), max_size=4), max_size=5))
def test_any_text_is_a_word_even_one_with_line_breaks_or_half_a_surrogate(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("any") / "toy.safetensors"
    vectors = np.arange(len(words) * 2, dtype=np.float32).reshape(-1, 2)
    SafetensorsFile().write(path, Embeddings(words, vectors))
    read = SafetensorsFile().read(path)
    assert read.words == words
    assert np.array_equal(read.vectors, vectors)


def test_vectors_are_mapped_and_cannot_be_changed(path):
    vectors = read_embeddings(path).vectors
    assert not vectors.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        vectors[0] = 0


def test_max_words_takes_the_first(path, toy):
    read = read_embeddings(path, max_words=5)
    assert read.words == toy.words[:5]
    assert np.array_equal(read.vectors, toy.vectors[:5])
    assert len(read_embeddings(path, max_words=10**9)) == 300


def test_other_libraries_read_the_file(path, toy):
    tensors = load_file(path)
    assert np.array_equal(tensors["vectors"], toy.vectors)
    ends = tensors["word_ends"]
    assert tensors["words"][ends[4] : ends[5]].tobytes().decode() == toy.words[5]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_files_of_other_libraries_are_read(tmp_path, kind):
    vectors = np.eye(2, dtype=kind)
    words = {"words": np.frombuffer(b"dogcat", np.uint8), "word_ends": np.array([3, 6])}
    save_file({"vectors": vectors, **words}, tmp_path / "toy.safetensors")
    read = read_embeddings(tmp_path / "toy.safetensors")
    assert read.words == ["dog", "cat"]
    assert read.vectors.dtype == kind
    assert np.array_equal(read.vectors, vectors)


def test_vectors_are_written_in_blocks_as_they_are_made(tmp_path, toy):
    streamed = toy.map(lambda rows: rows)
    write_embeddings(streamed, tmp_path / "toy.safetensors")
    write_embeddings(streamed, tmp_path / "toy.vec")
    assert streamed.rows.stored is None, "all vectors at once"
    for name in ("toy.safetensors", "toy.vec"):
        assert np.array_equal(read_embeddings(tmp_path / name).vectors, toy.vectors)


@pytest.mark.parametrize("metadata", [{"x": 1}, {"x": None}, {"x": ["y"]}, [], "x", 1])
def test_metadata_that_the_library_refuses_are_refused(tmp_path, toy, metadata):
    path = tmp_path / "odd.safetensors"
    write_embeddings(toy, path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length]) | {"__metadata__": metadata}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    with pytest.raises(FormatError, match="not a whole file"):
        read_embeddings(path)
    with pytest.raises(SafetensorError):
        load_file(path)


def test_a_file_without_words_says_so(tmp_path):
    save_file({"weights": np.eye(2, dtype=np.float32)}, tmp_path / "toy.safetensors")
    with pytest.raises(FormatError, match="holds no tensor 'vectors', but: weights"):
        read_embeddings(tmp_path / "toy.safetensors")


@pytest.mark.parametrize("length", [0, 5, 8, 100, 400, -1])
def test_a_file_that_is_cut_off_says_so(path, length):
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(FormatError, match="not a whole file"):
        read_embeddings(path)


def with_header(path, change):
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    text = json.dumps(change(header) or header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["vectors"].update(shape=[10**9, 10**9]),
        lambda header: header["vectors"].update(shape=[300, -7]),
        lambda header: header["vectors"].update(shape="300"),
        lambda header: header["vectors"].update(dtype="BF16"),
        lambda header: header["vectors"].update(dtype="I64"),
        lambda header: header["vectors"].update(data_offsets=[0]),
        lambda header: header["vectors"].update(data_offsets=[10**9, 10**9 + 8400]),
        lambda header: header["words"].update(header["vectors"]),
        lambda header: header["word_ends"].update(shape=[1], data_offsets=[0, 8]),
        lambda header: header.update(vectors=None, words=7),
        lambda header: [1],
    ],
)
def test_a_header_that_lies_is_an_error_and_takes_no_memory(path, change):
    with_header(path, change)
    with pytest.raises(FormatError):
        read_embeddings(path)


def test_ends_of_words_out_of_order_and_bad_text_are_errors(tmp_path):
    good = {
        "vectors": np.eye(2, dtype=np.float32),
        "words": np.frombuffer(b"dogcat", np.uint8),
        "word_ends": np.array([3, 6]),
    }
    bad = [
        {"word_ends": np.array([6, 3])},
        {"word_ends": np.array([3, 60])},
        {"word_ends": np.array([-3, 6])},
        {"words": np.frombuffer(b"dog\xff\xffx", np.uint8)},
    ]
    for change in bad:
        save_file(good | change, tmp_path / "toy.safetensors")
        with pytest.raises(FormatError, match="not a whole file"):
            read_embeddings(tmp_path / "toy.safetensors")


def test_vectors_without_numbers_are_refused(tmp_path):
    tensors = {"vectors": np.empty((2, 0), np.float32), "word_ends": np.array([1, 2])}
    save_file({**tensors, "words": np.frombuffer(b"ab", np.uint8)}, tmp_path / "x.safetensors")
    with pytest.raises(FormatError, match=r"vectors \(2, 0\)"):
        read_embeddings(tmp_path / "x.safetensors")


def lay_out(path, places, tail=b""):
    """Write one word of two numbers, with the tensors at the places given."""
    content = bytearray(max(end for _, end in places.values()))
    values = {
        "vectors": np.array([[1, 2]], "<f4").tobytes(),
        "word_ends": np.array([3], "<i8").tobytes(),
        "words": b"dog",
        "other": b"?" * 4,
    }
    kinds = {"vectors": ("F32", [1, 2]), "word_ends": ("I64", [1]), "words": ("U8", [3])}
    header = {}
    for name, (begin, end) in places.items():
        content[begin:end] = values[name][: end - begin]
        kind, shape = kinds.get(name, ("BF16", [2]))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(content) + tail)
    return path


WHOLE = {"vectors": (0, 8), "word_ends": (8, 16), "words": (16, 19)}
LAYOUTS = {
    "overlap": (WHOLE | {"word_ends": (4, 12), "words": (12, 15)}, b""),
    "hole": (WHOLE | {"words": (20, 23)}, b""),
    "hole at the start": ({"vectors": (4, 12), "word_ends": (12, 20), "words": (20, 23)}, b""),
    "tail": (WHOLE, b"tail"),
    "overlap of another tensor": (WHOLE | {"other": (16, 20)}, b""),
}


@pytest.mark.parametrize("places, tail", LAYOUTS.values(), ids=LAYOUTS)
def test_overlaps_holes_and_tails_are_refused_as_the_library_does(tmp_path, places, tail):
    path = lay_out(tmp_path / "x.safetensors", places, tail)
    with pytest.raises(Exception, match=r"(?i)offset|header|buffer"):
        load_file(path)
    with pytest.raises(FormatError, match="not a whole file"):
        read_embeddings(path)


def test_tensors_of_others_may_stand_in_any_order(tmp_path):
    places = {"other": (0, 4), "words": (4, 7), "vectors": (7, 15), "word_ends": (15, 23)}
    assert read_embeddings(lay_out(tmp_path / "x.safetensors", places))["dog"].tolist() == [1, 2]

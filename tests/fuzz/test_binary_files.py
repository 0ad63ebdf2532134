"""Binary files and folders of vectors: each is read as a simple reader would, or refused."""

import gzip
import io
import json
import pickle
import struct
import warnings

import numpy as np
import pytest
from hostile import answer, anything, changed_json, check_embeddings, damaged, fuzzed, same_bits
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.errors import GeommError, UnknownNameError

RANDOM = np.random.default_rng(0)
WORDS = ["dog", "the", "naïve", "日本", "</s>", "x" * 30]
VECTORS = RANDOM.normal(size=(len(WORDS), 4)).astype(np.float32)
EMBEDDINGS = Embeddings(WORDS, VECTORS)
max_words = st.sampled_from([None, None, 1, 5, 100])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("binary")


def written(suffix, tmp_path):
    path = tmp_path / f"good{suffix}"
    write_embeddings(EMBEDDINGS, path)
    return path.read_bytes()


def word2vec():
    return b"6 4\n" + b"".join(
        word.encode() + b" " + row.tobytes() + b"\n"
        for word, row in zip(WORDS, VECTORS, strict=True)
    )


def word2vec_one_by_one(content, count):
    """Read word2vec's binary file as simply as possible; None where that is not possible."""
    head, _, rest = content.partition(b"\n")
    promised, dimension = map(int, head.split())
    words, rows = [], []
    while len(words) < min(promised, count or promised):
        word, space, rest = rest.partition(b" ")
        if not space or len(rest) < 4 * dimension:
            return None
        words.append(word.lstrip(b"\n").decode("utf-8", "surrogateescape"))
        rows.append(np.frombuffer(rest[: 4 * dimension], "<f4"))
        rest = rest[4 * dimension :]
    if (count is None or promised < count) and rest.strip():
        return None
    first = [row for row, word in enumerate(words) if words.index(word) == row]
    vectors = np.array(rows, np.float32).reshape(len(rows), dimension)
    return [words[row] for row in first], vectors[first]


@fuzzed(60)
@given(content=anything(word2vec()), count=max_words, packed=st.booleans())
def test_word2vec(folder, content, count, packed):
    path = folder / ("hostile.bin.gz" if packed else "hostile.bin")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    found = answer(lambda: read_embeddings(path, max_words=count, format="word2vec_bin"), path)
    if not isinstance(found, GeommError):
        check_embeddings(found)
        words, vectors = word2vec_one_by_one(content, count)
        assert found.words == words and same_bits(found.vectors, vectors)
    elif content.startswith(b"6 4\n"):
        assert word2vec_one_by_one(content, count) is None


def fasttext():
    """Make a small model as fastText writes it: four words, five buckets."""
    dimension, buckets, words = 4, 5, WORDS[:4]
    parameters = struct.pack("<12id", dimension, 5, 5, 1, 5, 1, 2, 2, buckets, 2, 4, 100, 1e-4)
    entries = b"".join(
        word.encode() + b"\0" + struct.pack("<qb", 9 - n, 0) for n, word in enumerate(words)
    )
    sizes = struct.pack("<3i2q", len(words), len(words), 0, 99, -1)
    rows = len(words) + buckets
    matrix = struct.pack("<?2q", False, rows, dimension)
    matrix += RANDOM.normal(size=rows * dimension).astype("<f4").tobytes()
    return struct.pack("<2i", 793712314, 12) + parameters + sizes + entries + matrix + bytes(40)


FASTTEXT = fasttext()


def test_the_model_made_here_is_good(folder):
    path = folder / "good.bin"
    path.write_bytes(FASTTEXT)
    found = read_embeddings(path)
    assert found.words == WORDS[:4] and found.vectors.any(axis=1).all()
    assert found.vector("dogs").any()


@fuzzed(120)
@given(content=anything(FASTTEXT), count=max_words)
def test_fasttext(folder, content, count):
    path = folder / "hostile.bin"
    path.write_bytes(content)
    found = answer(lambda: read_embeddings(path, max_words=count, format="fasttext_bin"), path)
    if not isinstance(found, GeommError):
        with np.errstate(all="ignore"):
            check_embeddings(found)
            try:
                assert found.vector("unseen").shape == (found.dimension,)
            except UnknownNameError:
                pass


@fuzzed(60)
@given(content=anything(st.sampled_from([FASTTEXT, word2vec()])))
def test_files_whose_suffix_does_not_tell_their_format(folder, content):
    path = folder / "guess.bin"
    path.write_bytes(content)
    answer(lambda: read_embeddings(path), path)


def npy(array, **how):
    stream = io.BytesIO()
    np.save(stream, array, **how)
    return stream.getvalue()


def npz():
    stream = io.BytesIO()
    np.savez(stream, vectors=VECTORS)
    return stream.getvalue()


ARRAYS = [
    npy(VECTORS), npy(VECTORS.astype(np.float64)), npy(np.asfortranarray(VECTORS)),
    npy(VECTORS.astype(np.int8)), npy(VECTORS.astype(">f4")), npz(), npy(VECTORS.astype("c8")),
    npy(np.array(WORDS)), npy(np.array([{}] * 6, object), allow_pickle=True),
    npy(np.zeros(6, [("a", "f4")])), npy(np.zeros((6, 0), np.float32)), npy(np.float32(1)),
]  # fmt: skip
VOCABULARIES = [
    "".join(f"{word}\n" for word in WORDS).encode(),
    *(pickle.dumps({word: n for n, word in enumerate(WORDS)}, protocol=p) for p in (2, 3, 4, 5)),
]


@fuzzed(80)
@given(
    array=st.sampled_from(ARRAYS) | anything(st.sampled_from(ARRAYS)),
    words=st.sampled_from(VOCABULARIES) | anything(st.sampled_from(VOCABULARIES)),
    count=max_words,
)
def test_numpy(folder, array, words, count):
    path = folder / "hostile.npy"
    path.write_bytes(array)
    path.with_suffix(".vocab").write_bytes(words)
    found = answer(lambda: read_embeddings(path, max_words=count), folder)
    if not isinstance(found, GeommError):
        check_embeddings(found)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers as Python 2 wrote them
            expected = np.load(io.BytesIO(array), allow_pickle=False)[:count]
        expected = expected.astype(found.vectors.dtype)
        if len(found) < len(expected):  # words repeat: each has its first vector, in order
            rows = iter([row.tobytes() for row in expected])
            assert all(row.tobytes() in rows for row in found.vectors)
            assert words.count(b"\n") >= len(found)
        else:
            assert np.array_equal(found.vectors, expected, equal_nan=True)


@fuzzed(60)
@given(data=st.data(), count=max_words)
def test_safetensors(folder, data, count):
    good = written(".safetensors", folder)
    length = int.from_bytes(good[:8], "little")
    if data.draw(st.booleans()):
        header = data.draw(changed_json(json.loads(good[8 : 8 + length])))
        text = json.dumps(header).encode()
        content = len(text).to_bytes(8, "little") + text + good[8 + length :]
    else:
        content = data.draw(anything(good))
    path = folder / "hostile.safetensors"
    path.write_bytes(content)
    found = answer(lambda: read_embeddings(path, max_words=count), path)
    if not isinstance(found, GeommError):
        check_embeddings(found)
        try:
            tensors = load(content)
        except Exception:  # it is stricter: tensors must not overlap, nor leave bytes out
            return
        assert same_bits(found.vectors, tensors["vectors"][:count])


@fuzzed(50)
@given(ends=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 12), max_size=5))
def test_ends_of_words_in_any_order(folder, ends):
    text = "añb日c".encode()
    content = save(
        {
            "vectors": np.zeros((len(ends), 2), np.float32),
            "word_ends": np.array(ends, np.int64),
            "words": np.frombuffer(text, np.uint8),
        }
    )
    path = folder / "ends.safetensors"
    path.write_bytes(content)
    found = answer(lambda: read_embeddings(path), path)
    ordered = all(0 <= a <= b <= len(text) for a, b in zip([0, *ends], ends, strict=False))
    if not isinstance(found, GeommError):
        assert ordered and "".join(found.words) == text[: max([0, *ends])].decode()
    elif ordered:
        assert "UTF-8" in str(found)


TOKENIZER = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [
        {"id": 0, "content": "[UNK]", "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True},
    ],
    "normalizer": None,
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "dog": 1, "##s": 2, "cat": 3},
    },
}  # fmt: skip
TENSORS = [
    {"embeddings": VECTORS[:4]},
    {"embedding.weight": VECTORS[:4].astype(np.float16)},
    {"embeddings": VECTORS[:3], "mapping": np.array([0, 1, 2, 1]), "weights": np.ones(4)},
    {"embeddings": VECTORS[:4].astype(np.int8), "weights": np.ones(2)},
    {"embeddings": VECTORS[0]},
    {"embeddings": VECTORS[:2], "mapping": np.array([-1, 5, 0, 0])},
    {"embeddings": VECTORS[:4].astype(np.complex64)},
    {"other": VECTORS},
]


@fuzzed(50, share=0.5)
@given(data=st.data(), tensors=st.sampled_from(TENSORS), count=max_words)
def test_static_models(folder, data, tensors, count):
    place = folder / "static"
    place.mkdir(exist_ok=True)
    content = json.dumps(TOKENIZER).encode()
    which = data.draw(st.sampled_from(["value", "bytes", "arrays"]))
    if which == "value":
        content = json.dumps(data.draw(changed_json(TOKENIZER))).encode()
    elif which == "bytes":
        content = data.draw(damaged(content))
    arrays = save(tensors)
    (place / "model.safetensors").write_bytes(
        data.draw(damaged(arrays)) if which == "arrays" else arrays
    )
    (place / "tokenizer.json").write_bytes(content)
    found = answer(lambda: read_embeddings(place, max_words=count), place)
    if not isinstance(found, GeommError):
        check_embeddings(found)
        try:
            assert found.vector("dogs").shape == (found.dimension,)
        except UnknownNameError:
            pass


@fuzzed(8, share=0.1)
@given(data=st.data(), count=max_words)
def test_spacy(folder, data, count):
    pytest.importorskip("spacy")
    good = folder / "good_spacy"
    if not good.exists():
        write_embeddings(EMBEDDINGS, good, format="spacy")
    place = folder / "spacy" / "vocab"
    place.mkdir(exist_ok=True, parents=True)
    files = sorted(path for path in (good / "vocab").iterdir() if path.is_file())
    for path in files:
        (place / path.name).write_bytes(path.read_bytes())
    chosen = data.draw(st.sampled_from(files))
    (place / chosen.name).write_bytes(data.draw(anything(chosen.read_bytes())))
    found = answer(
        lambda: read_embeddings(place.parent, max_words=count, format="spacy"), place.parent
    )
    if not isinstance(found, GeommError):
        check_embeddings(found)

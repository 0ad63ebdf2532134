"""Hostile Parquet and Arrow files, and text of several languages: read right, or a sentence."""

import io

import numpy as np
import pytest
from hostile import answer, anything, check_embeddings, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from geomm_adapters.arrow_tables import arrow_errors
from geomm_plugin import Embeddings, read_embeddings, write_space
from geomm_plugin.errors import FormatError, GeommError

pa = pytest.importorskip("pyarrow")
from pyarrow import ipc, parquet  # noqa: E402

WORDS = ["dog", "naïve", "日本語", "0.5", "nan", "two words"]
VECTORS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def good(folder):
    contents = {}
    for suffix in (".parquet", ".arrow"):
        path = folder / f"good{suffix}"
        write_space(
            {"en": Embeddings(WORDS, VECTORS), "es": Embeddings(WORDS[:2], VECTORS[:2])}, path
        )
        contents[suffix] = path.read_bytes()
    stream = io.BytesIO()
    table = pa.table({"word": WORDS, "vector": list(VECTORS)})
    with ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    contents["stream"] = stream.getvalue()
    return contents


@pytest.mark.parametrize("kind", [".parquet", ".arrow", "stream"])
@fuzzed(80)
@given(data=st.data(), count=st.sampled_from([None, 1, 3]))
def test_tables(folder, good, kind, data, count):
    path = folder / ("hostile.arrow" if kind == "stream" else f"hostile{kind}")
    path.write_bytes(data.draw(anything(good[kind])))
    read = answer(lambda: read_embeddings(path, max_words=count, language="en"), path)
    if not isinstance(read, GeommError):
        check_embeddings(read)


def test_a_large_row_group_takes_little_memory(tmp_path):
    path, count, dimension = tmp_path / "x.parquet", 60_000, 300
    zeros = pa.FixedSizeListArray.from_arrays(np.zeros(count * dimension, np.float32), dimension)
    words = [f"w{row}" for row in range(count)]
    table = pa.table({"word": words, "vector": zeros})
    parquet.write_table(table, path, row_group_size=count, compression="zstd")
    size = table.nbytes
    del table, zeros
    assert path.stat().st_size < size / 100
    usual, counted = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(counted)
    try:
        assert read_embeddings(path, max_words=10).words == words[:10]
    finally:
        pa.set_memory_pool(usual)
    assert 0 < counted.max_memory() < size / 2


def test_memory_that_runs_out_is_not_a_damaged_file(tmp_path):
    with pytest.raises(MemoryError), arrow_errors(tmp_path):
        raise pa.ArrowMemoryError("malloc of size 4294967296 failed")


def test_offsets_that_lead_anywhere(tmp_path):
    path = tmp_path / "x.arrow"
    write_space({"en": Embeddings(["dog", "cat"], VECTORS[:2])}, path)
    content = path.read_bytes()
    offsets, wild = (np.array([0, n, 6], np.int32).tobytes() for n in (3, 10**9))
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, wild))
    with pytest.raises(FormatError, match="not a whole table"):
        read_embeddings(path)


NUMBERBATCH = b"4 3\n/c/en/cat 1 2 3\n/c/en/dog 4 5 6\n/c/es/gato 7 8 9\n/c/es/perro 1 0 1\n"


@fuzzed(80)
@given(content=anything(NUMBERBATCH), count=st.sampled_from([None, 1, 3]))
def test_text_of_several_languages(folder, content, count):
    path = folder / "hostile.txt"
    path.write_bytes(content)
    form = "multilingual_text"
    read = answer(lambda: read_embeddings(path, max_words=count, language="en", format=form), path)
    if not isinstance(read, GeommError):
        check_embeddings(read)

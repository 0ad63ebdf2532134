"""Text in parts: wherever a file is cut, every line belongs to one part, and is read the same."""

import numpy as np
import pytest

from geomm_adapters import FastTextVec
from geomm_adapters.text import vec_parts
from geomm_plugin.file_parts import IrregularFileError

LINES = b"dog 1.5 -2\ncat 0.25 3 \n\nthe \xc2\xa0 cat 1e3 2\r\nfish 4 5.125\nx 6 7"
TEXTS = {
    "header": b"5 2\n" + LINES,
    "no header": LINES + b"\n",
    "byte order mark": b"\xef\xbb\xbf" + LINES,
    "mark and header": b"\xef\xbb\xbf5 2\n" + LINES,
}


@pytest.mark.parametrize("block", [1, 7, 2**22])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_wherever_it_is_cut_the_words_and_vectors_are_the_same(tmp_path, monkeypatch, text, block):
    path = tmp_path / "x.vec"
    path.write_bytes(text)
    whole = FastTextVec().read(path)
    monkeypatch.setattr(vec_parts, "_BLOCK_BYTES", block)
    for size in range(1, len(text) + 1):
        monkeypatch.setattr(vec_parts, "_PART_BYTES", size)
        file = FastTextVec().in_parts(path, None)
        words, vectors = [], []
        for call in file.parts():
            part = call()
            for rows in file.add(part):
                words += part.words[rows]
                vectors.append(part.vectors[rows])
        file.finish()
        assert not file.needs_more()
        assert words == list(whole.words), size
        assert np.array_equal(np.concatenate(vectors), whole.vectors)


def test_max_words_and_repeated_words(tmp_path, monkeypatch):
    monkeypatch.setattr(vec_parts, "_PART_BYTES", 10)
    path = tmp_path / "x.vec"
    path.write_bytes(b"".join(b"w%d %d 1\n" % (n % 30, n) for n in range(40)) + b"bad line here\n")
    for limit in range(1, 31):
        file = FastTextVec().in_parts(path, limit)
        kept = 0
        while kept == 0 or file.needs_more():
            for call in file.parts():
                kept += sum(rows.stop - rows.start for rows in file.add(call()))
        file.finish()
        assert kept == limit
    file = FastTextVec().in_parts(path, 31)
    with pytest.raises(IrregularFileError):
        for call in file.parts():
            file.add(call())


def test_gzip_is_one_stream(tmp_path):
    path = tmp_path / "x.vec.gz"
    FastTextVec().write(path, FastTextVec().read(written(tmp_path)))
    assert FastTextVec().in_parts(path, None) is None


def written(folder):
    path = folder / "x.vec"
    path.write_bytes(TEXTS["header"])
    return path

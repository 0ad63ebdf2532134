"""Headers that claim more than any machine holds, and few bytes that unpack to very many.

Everything here is read by one process that may use only a little more memory than it has at the
start: a reader that believed a claim would end in a MemoryError, which is no error of ours.
"""

import gzip
import json
import os
import pickle
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

resource = pytest.importorskip("resource")
ALLOWED = 600 * 2**20  # bytes; the largest claims below are terabytes, the bombs four gigabytes

READ = """
import json, resource, sys, warnings
from geomm_plugin import load_mapper, read_dictionary, read_embeddings
from geomm_plugin.errors import GeommError
from geomm_plugin.evaluation.similarity import read_similarity
import geomm_adapters, numpy, scipy.sparse, safetensors.numpy
try:
    import isal.igzip
except ImportError:
    pass
readers = {"dictionary": read_dictionary, "similarity": read_similarity, "mapper": load_mapper}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
warnings.simplefilter("ignore")
for name, path, count in json.loads(sys.argv[2]):
    try:
        if name in readers:
            found = f"{len(readers[name](path))} items"
        else:
            found = f"{len(read_embeddings(path, max_words=count, format=name))} words"
    except GeommError as error:
        found = f"refused: {error}"
    except BaseException as error:
        found = f"broken: {type(error).__name__}: {error}"
    print(json.dumps([path, found[:300]]), flush=True)
"""


def bomb(begin, repeated, size):
    """Make a small .gz that holds a beginning and then the same bytes for very long.

    Its last bytes, which hold a checksum, are wrong: nobody should get so far.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = repeated * (2**22 // len(repeated))
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)  # which can be repeated
    return head + packed * (size // len(piece)) + packer.flush()


def safetensors(shape, offsets):
    tensor = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
    ends = {"dtype": "I64", "shape": [shape[0]], "data_offsets": offsets}
    text = json.dumps({"vectors": tensor, "word_ends": ends, "words": ends}).encode()
    return len(text).to_bytes(8, "little") + text + b"\0" * 64


def fasttext(**claims):
    known = {"dimension": 4, "buckets": 5, "longest": 4, "size": 1, "words": 1, "kept": -1}
    known |= {"rows": 6, "columns": 4, "quantized": False, "word": b"dog"} | claims
    k = type("Claims", (), known)
    content = struct.pack("<2i", 793712314, 12)
    content += struct.pack("<12id", k.dimension, *[1] * 7, k.buckets, 1, k.longest, 1, 0.1)
    content += struct.pack("<3i2q", k.size, k.words, 0, 9, k.kept)
    content += k.word + b"\0" + bytes(9) + struct.pack("<?2q", k.quantized, k.rows, k.columns)
    return content + bytes(400)


def npy(shape, kind="<f4"):
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


MANY = 10**12
LONG = b"w" * 2**20
WORDS = b"%d 2\n" % MANY + b"".join(b"w%d 0.25 0.5\n" % n for n in range(20))
CASES = {
    # name: (format, file, content, max_words, what is expected)
    "many words": ("vec", "a.vec", b"%d 2\nw 1 2\n" % MANY, None, "promises"),
    "many words, few wanted": ("vec", "b.vec", b"%d 2\nw 1 2\n" % MANY, 1, "1 words"),
    "many numbers": ("vec", "c.vec", b"1 %d\nw 1 2\n" % MANY, None, "refused"),
    "many numbers that are possible": ("vec", "d.vec", b"1 67000000\nw 1 2\n", None, "refused"),
    "numbers of digits without end": ("vec", "e.vec", b"9" * 10**6 + b" 3\na 1 2 3\n", None, "ref"),
    "a word of a megabyte": ("vec", "f.vec", b"w" * 2**20 + b" 1 2\n", None, "1 words"),
    "a line of eighty megabytes": ("vec", "g.vec", b"w" * 80 * 2**20, None, "refused"),
    "word2vec: many words": ("word2vec_bin", "a.bin", b"%d 2\nw 12345678" % MANY, None, "cut"),
    "word2vec: and few wanted": ("word2vec_bin", "b.bin", b"%d 2\nw 12345678" % MANY, 1, "1 words"),
    "word2vec: many numbers": ("word2vec_bin", "c.bin", b"1 %d\nw 1234" % MANY, None, "claims"),
    "word2vec: possible numbers": ("word2vec_bin", "d.bin", b"1 16000000\nw 1234", None, "cut"),
    "word2vec: a long word": ("word2vec_bin", "e.bin", b"1 1\n" + LONG + b" 1234", None, "1 words"),
    "word2vec: packed": (
        "word2vec_bin", "f.bin.gz", gzip.compress(b"%d 999\nw 1" % MANY), None, "cut",
    ),
    "fastText: many words": (
        "fasttext_bin", "g.bin", fasttext(size=2**31 - 1, words=2**31 - 1), None, "refused",
    ),
    "fastText: many rows": ("fasttext_bin", "h.bin", fasttext(rows=MANY), None, "refused"),
    "fastText: many numbers": (
        "fasttext_bin", "i.bin", fasttext(dimension=2**31 - 1, columns=2**31 - 1), None, "refused",
    ),
    "fastText: many buckets": ("fasttext_bin", "j.bin", fasttext(buckets=10**9), None, "refused"),
    "fastText: kept buckets": ("fasttext_bin", "k.bin", fasttext(kept=2**60), None, "refused"),
    "fastText: long n-grams": (
        "fasttext_bin", "l.bin", fasttext(longest=10**6, word=b"w" * 10**6), None, "refused",
    ),
    "fastText: a long word": ("fasttext_bin", "m.bin", fasttext(word=LONG[::8]), None, "1 words"),
    "fastText: many n-grams": (
        "fasttext_bin", "o.bin", fasttext(word=LONG[::4], longest=100), None, "1 words",
    ),
    "fastText: an endless word": (
        "fasttext_bin", "p.bin", fasttext(word=b"w" * (2**20 + 1)), None, "1048576 bytes",
    ),
    "fastText: a quantized model": (
        "fasttext_bin", "n.bin", fasttext(quantized=True, rows=MANY), None, "whose vectors are not",
    ),
    "numpy: many rows": ("npy", "a.npy", npy((MANY, 300)), None, "refused"),
    "numpy: rows of nothing": ("npy", "b.npy", npy((MANY, 0)), None, "refused"),
    "numpy: wide items": ("npy", "c.npy", npy((1, 1), "<U1000000000"), None, "refused"),
    "numpy: overflow": ("npy", "d.npy", npy((2**62, 2**62)), None, "refused"),
    "safetensors: many rows": (
        "safetensors", "a.safetensors", safetensors([MANY, 300], [0, 1200 * MANY]), None, "refused",
    ),
    "safetensors: rows of nothing": (
        "safetensors", "b.safetensors", safetensors([MANY, 0], [0, 0]), None, "refused",
    ),
    "safetensors: a long header": (
        "safetensors", "c.safetensors", (10**15).to_bytes(8, "little") + b"{}", None, "refused",
    ),
    "safetensors: a deep header": (
        "safetensors", "d.safetensors",
        (10**6).to_bytes(8, "little") + b"[" * 10**6, None, "refused",
    ),
    "a bomb, few words wanted": ("vec", "bomb1.vec.gz", (WORDS, b"w 1 2\n"), 10, "10 words"),
    "a bomb of one word": ("vec", "bomb2.vec.gz", (b"9 2\n", b"w 1 2\n"), 10, "refused"),
    "a bomb without a header": ("vec", "bomb3.vec.gz", (b"", b"w 1 2\n"), 10, "repeat"),
    "a bomb of empty lines": ("vec", "bomb4.vec.gz", (b"9 2\nw 1 2\n", b"\n"), 10, "are empty"),
    "a bomb of nothing": ("vec", "bomb5.vec.gz", (b"", b"\n"), 10, "refused"),
    "a bomb of one line": ("vec", "bomb6.vec.gz", (b"", b"0"), 10, "refused"),
    "a bomb after the words": ("vec", "bomb7.vec.gz", (b"1 2\nw 1 2\n", b"w 1 2\n"), 9, "or more"),
    "word2vec: a bomb": ("word2vec_bin", "bomb8.bin.gz", (b"9 2\n", b"w 12345678"), 5, "1 words"),
    "word2vec: one word": ("word2vec_bin", "bomb9.bin.gz", (b"9 2\n", b"w"), 5, "16777216 bytes"),
    "a dictionary": ("dictionary", "bomba.txt.gz", (b"", b"a b\n"), None, "compressed size"),
    "a dictionary of one line": ("dictionary", "bombb.txt.gz", (b"", b"a"), None, "line 1"),
    "scores": ("similarity", "bombc.txt.gz", (b"", b"a b 1\n"), None, "compressed size"),
}  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_claims_cost_nothing(tmp_path):
    asked = []
    for reader, name, content, count, _ in CASES.values():
        if isinstance(content, tuple):
            content = bomb(*content, 2**32)
            assert len(content) < 2**24
        path = tmp_path / name
        path.write_bytes(content)
        if reader == "npy":
            path.with_suffix(".vocab").write_bytes(b"w\n")
        asked.append((reader, str(path), count))
    result = subprocess.run(
        [sys.executable, "-c", READ, str(ALLOWED), json.dumps(asked)],
        capture_output=True, text=True, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    answers = dict(map(json.loads, result.stdout.splitlines()))
    assert len(answers) == len(CASES), result.stderr[-2000:]
    for what, (_, name, _, _, expected) in CASES.items():
        found = answers[str(tmp_path / name)]
        assert not found.startswith("broken"), f"{what}: {found}"
        assert expected in found, f"{what}: {found}"


def test_a_pickle_in_place_of_words_or_vectors_never_runs(tmp_path):
    from geomm_plugin import read_embeddings
    from geomm_plugin.errors import GeommError

    class Harm:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "harm"),))

    harm = pickle.dumps(Harm())
    array = np.array([Harm()] * 3, object)
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    np.save(tmp_path / "b.npy", np.ones((3, 2)))
    for name in ("a.vocab", "b.vocab", "c.npy", "c.bin", "c.vec", "c.safetensors"):
        (tmp_path / name).write_bytes(harm)
    for name in ("a.npy", "b.npy", "c.npy", "c.bin", "c.vec", "c.safetensors"):
        with pytest.raises(GeommError):
            read_embeddings(tmp_path / name)
    assert not (tmp_path / "harm").exists()

"""Hostile input: bytes of every kind, good files that were damaged, and how an answer is judged.

The tests here run with some examples each in `make test`, always the same ones, and with thousands
of new ones in `make fuzz`, which sets FUZZ to the number of examples of each test.
"""

import os
import warnings

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from geomm_plugin.errors import GeommError

EXAMPLES = int(os.environ.get("FUZZ", "0"))
LONGEST_MESSAGE = 3000  # characters: a word of a megabyte is not shown whole

KINDS = ["flip", "byte", "token", "replace", "delete", "repeat", "cut"]
TOKENS = [
    b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b" ", b"  ", b"\t", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xe2\x80\xa8", b"\xc2\xa0", b"nan", b"NaN", b"inf", b"-Infinity", b"1e400", b"-1e400",
    b"1e-400", b"1e-42", b"0x1p3", b"1_000", b"\xd9\xa1", b"3.4028236e38", b"1e39", b".", b"-",
    b"+",     b"0.1 0.2 0.3", b"w 1 2 3\n", b" 1 2 3\n", b"1000000000000 3\n", b"5 1000000000000\n",
    b"9" * 30, b"9" * 5000, b"-1", b"0", b"\xff" * 4, b"\xff" * 8, b"\xff" * 7 + b"\x7f",
    b"\x00" * 8, b"\x00" * 40, b"\x80\x04\x95", b"PK\3\4", b"\x1f\x8b\x08", b"[" * 2000, b'{"a":',
    b'"', b"\\", b"\\ud800", b"NULL", b"null", b"true", b"1.5", b"[]", b"{}", b"..", b"/",
    b"A" * 300,
]  # fmt: skip


def fuzzed(quick=20, share=1.0):
    """Settings of a test; `share` is for those whose examples take longer."""
    return settings(
        max_examples=max(1, int(EXAMPLES * share)) if EXAMPLES else quick,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


@st.composite
def damaged(draw, content):
    """Good bytes with one to five flips, cuts, insertions, deletions, repetitions or swaps."""
    content = bytearray(draw(content) if isinstance(content, st.SearchStrategy) else content)
    for _ in range(draw(st.integers(1, 5))):
        end = len(content) if draw(st.booleans()) else min(len(content), 120)  # headers are short
        place = draw(st.integers(0, end))
        length = draw(st.sampled_from([1, 1, 1, 2, 4, 8, 30]))
        kind = draw(st.sampled_from(KINDS))
        if kind == "flip" and place < len(content):
            content[place] ^= 1 << draw(st.integers(0, 7))
        elif kind == "byte" and place < len(content):
            content[place] = draw(st.integers(0, 255))
        elif kind == "token":
            content[place:place] = draw(st.sampled_from(TOKENS))
        elif kind == "replace":
            token = draw(st.sampled_from(TOKENS))
            content[place : place + len(token)] = token
        elif kind == "delete":
            del content[place : place + length]
        elif kind == "repeat":
            content[place:place] = content[place : place + length] * draw(st.integers(1, 40))
        elif kind == "cut":
            del content[place:]
    return bytes(content)


def anything(content):
    """Arbitrary bytes, or good ones that were damaged."""
    return st.one_of(
        damaged(content),
        damaged(content),
        st.binary(max_size=300),
        st.lists(st.sampled_from(TOKENS), max_size=12).map(b"".join),
    )


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from([10**30, -1, 0, 1, 2**63, 1e400, float("nan"), -0.0, 1e-320]),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(["..", "/etc/passwd", "../../x", "unit", "center", "en", "a" * 64, "\0"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@st.composite
def changed_json(draw, value):
    """A JSON value with some of its parts, at any depth, replaced, dropped or added."""
    if draw(st.integers(0, 5)) == 0:
        return draw(json_values)
    if isinstance(value, dict) and value:
        name = draw(st.sampled_from(sorted(value)))
        changed = dict(value)
        if draw(st.integers(0, 5)) == 0:
            del changed[name]
        else:
            changed[name] = draw(changed_json(value[name]))
        if draw(st.integers(0, 3)) == 0:
            changed[draw(st.text(max_size=6))] = draw(json_values)
        return changed
    if isinstance(value, list) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(changed_json(value[place])), *value[place + 1 :]]
    return draw(json_values)


def answer(read, path):
    """Return what was read, or the error, which must be ours, name the file and be readable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read()
        except GeommError as error:
            message = str(error)
            assert str(path) in message, message
            assert len(message) < LONGEST_MESSAGE + len(str(path)), message[:200]
            assert message.rstrip().endswith((".", ")", "'", "`")), message
            return error


def check_embeddings(embeddings):
    """Whatever was read is words and their vectors, which all the rest can work with."""
    assert all(type(word) is str for word in embeddings.words)
    vectors = embeddings.vectors
    assert vectors.ndim == 2 and len(vectors) == len(embeddings.words)
    assert np.issubdtype(vectors.dtype, np.floating)
    assert len(embeddings.row_of) <= len(embeddings)
    for word in list(embeddings.words[:3]):
        assert embeddings[word].shape == (embeddings.dimension,)


def same_bits(one, other):
    """Tell whether two float32 tables are equal to the bit."""
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    return (
        one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )

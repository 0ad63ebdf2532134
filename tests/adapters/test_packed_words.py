"""Words that are cut from one text are those that each piece decodes to."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomm_adapters.safetensors_file import ENCODING, unpack_words


def packed(words):
    pieces = [word.encode(*ENCODING) for word in words]
    return b"".join(pieces), np.array([0, *accumulate(map(len, pieces))], np.int64)


@given(st.lists(st.text(st.characters(), max_size=5), max_size=30))  # surrogates, too
def test_whatever_was_packed_is_unpacked(words):
    assert unpack_words(*packed(words)) == words


def test_words_of_every_width_and_none():
    words = ["", "año", "", "é", "the", "слово", "\ud800", "\udc00", "𐍈", ""]
    assert unpack_words(*packed(words)) == words
    assert unpack_words(b"", np.array([0])) == []


@given(st.binary(max_size=12), st.lists(st.integers(0, 12), max_size=6))
def test_what_is_no_text_is_refused_as_each_word_would_be(text, ends):
    bounds = np.array([0, *sorted(min(end, len(text)) for end in ends)], np.int64)
    try:
        expected = [text[begin:end].decode(*ENCODING) for begin, end in pairwise(bounds)]
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            unpack_words(text, bounds)
    else:
        assert unpack_words(text, bounds) == expected

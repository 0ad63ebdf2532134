import numpy as np
import pytest

from geomm_plugin.fitting.seeds import Language
from geomm_plugin.fitting.seeds.spelling import Numerals, numeral


@pytest.mark.parametrize(
    ("word", "expected"),
    [("1999", "1999"), ("3,5%", "3,5%"), ("٣٤", "34"), ("²", ""), ("a1", ""), ("-", ""), ("", "")],
)
def test_a_numeral_has_digits_and_nothing_else(word, expected):
    assert numeral(word) == expected


def test_numbers_are_paired_across_scripts_and_words_are_not():
    source = Language(["de", "7", "2", "12"], np.zeros((4, 2), np.float32))
    target = Language(["de", "٢", "12"], np.zeros((3, 2), np.float32))
    pairs = Numerals().pairs(source, target)
    assert list(zip(pairs.source, pairs.target, strict=True)) == [(2, 1), (3, 2)]

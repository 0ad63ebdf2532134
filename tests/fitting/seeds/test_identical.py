import numpy as np

from geomm_plugin.fitting.seeds import Language
from geomm_plugin.fitting.seeds.spelling import Identical


def language(*words):
    return Language(words, np.zeros((len(words), 2), np.float32))


def test_words_of_both_vocabularies_are_paired_with_themselves():
    pairs = Identical().pairs(language("de", "Paris", "la"), language("la", "of", "Paris"))
    assert list(zip(pairs.source, pairs.target, strict=True)) == [(1, 2), (2, 0)]
    assert pairs.induced.all()


def test_nothing_in_common_is_no_pair():
    assert len(Identical().pairs(language("a"), language("b"))) == 0

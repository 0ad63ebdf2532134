"""The built-in features, each on its own."""

import sys

import numpy as np
import pytest

from geomm_plugin.errors import MissingExtraError
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, UnitRows, best_neighbors
from geomm_plugin.retrieval.rerank import Base, EditSimilarity, Frequency, Reverse


@pytest.fixture
def languages():
    generator = np.random.default_rng(0)
    source, target = (unit(generator.standard_normal((40, 6)).astype(np.float32)) for _ in "xz")
    return (
        UnitRows(source, [f"x{i}" for i in range(40)]),
        UnitRows(target, [f"z{i}" for i in range(40)]),
    )


def make(kind, languages):
    return kind(*languages, Base(CSLS(), CSLS().index(*languages)))


def test_edit_is_one_minus_the_share_of_changed_letters(languages):
    pytest.importorskip("rapidfuzz")
    source, target = languages
    target.words[:3] = ["kitten", "Kittén", "sitting"]
    queries = UnitRows(source.all()[:1], ["kitten"])
    values = make(EditSimilarity, (source, target)).values(queries, np.array([[0, 1, 2]]))
    assert values[0, :, 0].tolist() == pytest.approx([1, 1, 1 - 3 / 7])


def test_edit_needs_rapidfuzz(languages, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r'pip install "geomm-plugin\[letters\]"'):
        make(EditSimilarity, languages).values(languages[0].take(slice(1)), np.array([[0]]))


def test_frequency_is_the_distance_of_log_ranks(languages):
    queries = UnitRows(languages[0].all()[:2], ["x9", "unseen"])
    values = make(Frequency, languages).values(queries, np.array([[0, 9, 39]] * 2))
    assert values[0, :, 0].tolist() == pytest.approx([np.log(10), 0, np.log(4)])
    assert not values[1, :, 0].any()
    assert values[1, :, 1].tolist() == pytest.approx([0, np.log(10), np.log(40)])


def test_reverse_is_zero_for_mutual_best_words_only(languages):
    source, target = languages
    feature = make(Reverse, languages)
    every = np.tile(np.arange(40), (40, 1))
    margins = feature.values(source, every)[:, :, 0]
    back = best_neighbors(source, target).back
    assert (margins <= 0).all()
    assert np.array_equal(np.argmax(margins, axis=0), back)
    assert np.allclose(margins[back, np.arange(40)], 0, atol=1e-12)
    assert np.count_nonzero(margins > -1e-9) == 40

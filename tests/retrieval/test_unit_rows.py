"""Unit rows: arrays are checked, a language's rows are made when asked for; see test_rows.py."""

import numpy as np
import pytest

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, LanguageRows, UnitRows, as_unit_rows


@pytest.fixture
def embeddings():
    vectors = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    vectors[3] = 0
    return Embeddings([f"w{i}" for i in range(50)], vectors)


def test_rows_of_a_language_are_those_of_all(embeddings):
    expected = unit(embeddings.vectors)
    some = np.array([7, 3, 7])
    rows = LanguageRows(embeddings, "en")
    assert len(rows) == 50 and rows.shape == (50, 6)
    assert np.array_equal(rows.take(some), expected[some]) and rows.stored is None
    assert np.array_equal(rows.select(slice(4)).all(), expected[:4]) and rows.stored is None
    assert rows.select(some).words == ["w7", "w3", "w7"]
    assert np.array_equal(rows.all(), expected) and rows.all() is rows.all()
    assert np.array_equal(rows.take(some), expected[some])


def test_a_row_that_is_not_finite_is_named_by_its_row(embeddings):
    embeddings.vectors[40, 5] = np.nan
    rows = LanguageRows(embeddings, "en")
    rows.take(slice(40))
    for wanted in (np.array([1, 40]), slice(30, 45)):
        with pytest.raises(ParameterError, match="row 40 of the en vectors"):
            rows.take(wanted)
    with pytest.raises(ParameterError, match="row 40 of the en vectors"):
        rows.all()


def test_arrays_are_checked_once_and_unit_rows_trusted():
    with pytest.raises(ParameterError, match="row 0 of the query vectors has the length 2"):
        as_unit_rows(np.full((1, 4), 1.0), "query")
    bad = np.eye(5, dtype=np.float32)
    bad[3, 2] = np.nan
    with pytest.raises(ParameterError, match="row 3 of the target vectors has the length nan"):
        as_unit_rows(bad, "target")
    with pytest.raises(ParameterError, match="must be a table"):
        as_unit_rows(np.ones(3), "query")
    with pytest.raises(ParameterError, match="no query vectors"):
        as_unit_rows(UnitRows(np.ones((0, 3), np.float32)), "query")
    trusted = UnitRows(np.full((1, 4), 1.0, np.float32))
    assert as_unit_rows(trusted, "query") is trusted


def test_unit_rows_and_arrays_are_searched_alike(embeddings):
    rows = LanguageRows(embeddings, "en")
    by_rows = CSLS().index(rows, rows).search(rows.select(slice(5)), 4)
    by_arrays = CSLS().index(rows.all(), rows.all()).search(rows.all()[:5], 4)
    assert np.array_equal(by_rows.indices, by_arrays.indices)
    assert np.array_equal(by_rows.scores, by_arrays.scores)


def test_rows_at_length_one_are_shared_and_the_rest_is_scaled(embeddings):
    aligned = Embeddings(embeddings.words, unit(embeddings.vectors))
    rows = LanguageRows(aligned, "en")
    assert np.shares_memory(rows.all(), aligned.vectors)
    assert np.array_equal(rows.all(), aligned.vectors)
    with pytest.raises(ValueError, match="read-only"):
        rows.all()[0, 0] = 1
    mixed = aligned.vectors.copy()
    mixed[[5, 9]] *= 3
    rows = LanguageRows(Embeddings(embeddings.words, mixed), "en")
    some = rows.take(np.array([4, 5]))
    assert not np.shares_memory(rows.all(), mixed)
    assert np.array_equal(rows.all()[[4, 5]], some), "some rows are those of all, bit for bit"
    assert np.array_equal(some[0], mixed[4]) and abs(np.linalg.norm(some[1]) - 1) < 1e-6
    assert mixed[5] @ mixed[5] > 8, "the embeddings stay as they are"


def test_tiny_rows_are_scaled_and_columns_in_memory_are_copied():
    tiny = np.full((2, 3), 1e-30, np.float32)
    assert np.allclose(LanguageRows(Embeddings(["a", "b"], tiny), "en").all(), 3**-0.5)
    turned = np.asfortranarray(np.eye(3, dtype=np.float32)[[0, 1, 1]])
    rows = LanguageRows(Embeddings(["a", "b", "c"], turned), "en").all()
    assert rows.flags.c_contiguous and np.array_equal(rows, turned)

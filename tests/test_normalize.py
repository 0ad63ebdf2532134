import pickle

import numpy as np
import pytest

from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.normalize import Normalizer, unit


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(1, 2, (300, 7)).astype(np.float32)


def transformed(steps, vectors):
    return Normalizer(steps).fit({"en": vectors}).transform("en", vectors)


def test_unit_rows_have_length_one_and_zero_stays_zero(vectors):
    vectors[3] = 0
    lengths = np.linalg.norm(transformed(["unit"], vectors), axis=1)
    assert lengths[3] == 0
    assert np.allclose(np.delete(lengths, 3), 1, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_unit_stands_huge_and_tiny_numbers(vectors, scale):
    assert np.allclose(unit(vectors * np.float32(scale)), unit(vectors), atol=1e-5)


def test_center_takes_the_mean_of_the_rows_off(vectors):
    assert np.allclose(transformed(["center"], vectors).mean(axis=0), 0, atol=1e-6)


def test_centeremb_takes_the_mean_of_each_row_off(vectors):
    assert np.allclose(transformed(["centeremb"], vectors).mean(axis=1), 0, atol=1e-6)


def test_unitdim_columns_have_length_one(vectors):
    assert np.allclose(np.linalg.norm(transformed(["unitdim"], vectors), axis=0), 1, atol=1e-6)


def test_steps_apply_from_left_to_right(vectors):
    centered_last = transformed(["unit", "center"], vectors)
    unit_last = transformed(["center", "unit"], vectors)
    assert np.allclose(centered_last.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(np.linalg.norm(unit_last, axis=1), 1, atol=1e-6)
    assert not np.allclose(centered_last, unit_last, atol=1e-3)
    by_hand = unit(vectors) - unit(vectors).mean(axis=0)
    assert np.allclose(centered_last, by_hand, atol=1e-6)


def test_iterative_rows_have_mean_zero_and_nearly_length_one(vectors):
    rows = transformed(["iterative"], vectors)
    assert np.allclose(rows.mean(axis=0), 0, atol=1e-6)
    once = transformed(["unit", "center"], vectors)
    spread, spread_once = (np.abs(np.linalg.norm(r, axis=1) - 1).max() for r in (rows, once))
    assert spread < 1e-2 < spread_once
    assert np.array_equal(rows, transformed(["unit", "center"] * 5, vectors))


def test_means_come_from_fit_not_from_what_is_transformed(vectors):
    normalizer = Normalizer(["unit", "center", "unitdim"]).fit({"en": vectors})
    everything = normalizer.transform("en", vectors)
    assert np.allclose(normalizer.transform("en", vectors[:5]), everything[:5], atol=1e-7)


def test_each_language_has_its_own_means(vectors):
    normalizer = Normalizer(["center"]).fit({"en": vectors, "es": vectors + 5})
    assert np.allclose(
        normalizer.transform("en", vectors), normalizer.transform("es", vectors + 5), atol=1e-5
    )


def test_nothing_is_changed_in_place(vectors):
    before = vectors.copy()
    transformed(["unit", "center", "unitdim", "centeremb"], vectors)
    assert np.array_equal(before, vectors)


def test_a_view_gives_the_same_rows_without_a_copy_of_the_vocabulary(vectors):
    normalizer = Normalizer(["unit", "center"]).fit({"en": vectors})
    view = normalizer.view("en", vectors)
    everything = normalizer.transform("en", vectors)
    assert view.raw.stored is vectors
    assert view.shape == vectors.shape and len(view) == len(vectors)
    assert np.array_equal(view[[4, 2]], everything[[4, 2]])
    assert np.array_equal(view[7], everything[7])
    assert np.array_equal(np.concatenate(list(view.blocks(64))), everything)
    assert np.array_equal(np.asarray(view), everything)


def test_a_view_of_no_steps_is_the_vectors_themselves(vectors):
    normalizer = Normalizer([]).fit({"en": vectors})
    assert normalizer.view("en", vectors).all() is vectors
    assert normalizer.view("en", vectors.astype(np.float16)).dtype == np.float32


def test_state_and_restore_are_inverse(vectors):
    normalizer = Normalizer(["unit", "center", "unitdim"]).fit({"a/b": vectors})
    again = Normalizer(normalizer.steps)
    again.restore({"a/b": 7}, normalizer.state())
    assert np.array_equal(again.transform("a/b", vectors), normalizer.transform("a/b", vectors))


def test_errors():
    with pytest.raises(ParameterError, match="no normalization 'centre'. Did you mean 'center'?"):
        Normalizer(["unit", "centre"])
    with pytest.raises(UnknownNameError, match="'fr' was not fitted; there are en"):
        Normalizer().fit({"en": np.eye(3)}).transform("fr", np.eye(3))


def test_a_view_answers_as_the_normalized_array_does(vectors):
    normalizer = Normalizer(["unit", "center"]).fit({"en": vectors})
    view, whole = normalizer.view("en", vectors), normalizer.transform("en", vectors)
    rows, columns = np.array([5, 2]), np.array([1, 3])
    for key in (4, slice(2, 9), rows, (slice(None), 0), (slice(1, 8), slice(3)), (2, 3), ...):
        assert np.array_equal(view[key], whole[key])
    assert np.array_equal(view[rows, columns], whole[rows, columns])
    assert np.array_equal(view.T @ view, whole.T @ whole)
    assert np.array_equal(view - view.mean(axis=0), whole - whole.mean(axis=0))
    assert np.array_equal(np.sqrt(np.abs(2 * view)), np.sqrt(np.abs(2 * whole)))
    assert (view.ndim, view.size, view.shape) == (2, whole.size, whole.shape)
    assert pickle.loads(pickle.dumps(view)).shape == view.shape
    with pytest.raises(AttributeError, match="no attribute 'words'"):
        view.words  # noqa: B018


def test_half_precision_is_scaled_in_single():
    vectors = np.random.default_rng(0).normal(size=(50, 300)).astype(np.float16)
    scaled = unit(vectors)
    assert scaled.dtype == np.float32
    exact = vectors.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    np.testing.assert_allclose(scaled, exact, atol=1e-6)


@pytest.mark.parametrize("steps", [[], ["center"], ["unitdim"], ["center", "unitdim", "center"]])
def test_the_inverse_of_affine_steps_gives_rows_back(steps):
    for seed in range(5):
        vectors = np.random.default_rng(seed).normal(1, 2, (50, 7))
        vectors[:, 3] = 0  # a column that unitdim leaves
        normalizer = Normalizer(steps).fit({"en": vectors})
        rows, lengths = normalizer.transform("en", vectors), normalizer.lengths("en", vectors)
        assert np.allclose(normalizer.inverse("en", rows, lengths), vectors, atol=1e-9)


@pytest.mark.parametrize("steps", [["unit", "center"], ["center", "unit"], ["iterative"]])
def test_the_inverse_of_unit_length_is_right_for_rows_of_the_mean_length(steps, vectors):
    vectors = np.concatenate([vectors, np.zeros((1, 7), np.float32)])
    normalizer = Normalizer(steps).fit({"en": vectors})
    lengths = normalizer.lengths("en", vectors)
    assert np.isclose(lengths[0], np.linalg.norm(vectors[:-1], axis=1).mean())  # without the zero
    back = normalizer.inverse("en", normalizer.transform("en", vectors), lengths)
    assert back.dtype == vectors.dtype
    cosines = (unit(back) * unit(vectors)).sum(axis=1)[:-1]
    if steps == ["unit", "center"]:
        assert np.allclose(cosines, 1, atol=1e-6)
        assert np.allclose(np.linalg.norm(back[:-1], axis=1), lengths[0], rtol=1e-5)
    else:
        assert cosines.mean() > 0.9


def test_rows_that_centeremb_changed_do_not_come_back(vectors):
    normalizer = Normalizer(["unit", "centeremb"]).fit({"en": vectors})
    with pytest.raises(ParameterError, match="'centeremb'.*cannot be reached.*such as unit,center"):
        normalizer.inverse("en", vectors, normalizer.lengths("en", vectors))


def test_only_some_languages(vectors):
    both = Normalizer(["center"]).fit({"en": vectors, "es": vectors + 5})
    only = both.only("es")
    assert list(only.learnt) == ["es"]
    assert np.array_equal(only.transform("es", vectors), both.transform("es", vectors))
    with pytest.raises(UnknownNameError, match="'en' was not fitted"):
        only.transform("en", vectors)

"""Rows that are made when asked for are those that are made at once, and no others are made."""

import pickle

import numpy as np
import pytest

from geomm_plugin.errors import FileError
from geomm_plugin.normalize import unit
from geomm_plugin.rows import Rows


class Counting:
    """Doubles rows and adds a column of ones; counts the rows that it was given."""

    def __init__(self):
        self.count = 0

    def __call__(self, rows):
        self.count += len(rows)
        return np.hstack([2 * rows, np.ones((len(rows), 1), rows.dtype)])


@pytest.fixture
def array():
    return np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)


def stack(array, folder):
    """Return rows of every kind with the array that each stands for."""
    np.save(folder / "rows.npy", array)
    double = Counting()
    yield Rows(array), array
    yield Rows.of_file(folder / "rows.npy"), array
    yield Rows.of(Rows(array)), array
    for keep in (False, True):
        yield Rows(array).map(double, keep=keep), double(array)
        yield Rows.of_file(folder / "rows.npy").map(double, keep=keep), double(array)
        yield Rows(array).map(double, keep=keep).map(unit), unit(double(array))


def test_every_way_to_ask_gives_the_rows_of_the_eager_computation(array, tmp_path):
    some = np.array([7, 3, 7, -1])
    for rows, eager in stack(array, tmp_path):
        for _ in range(2):  # before all rows were made, and after
            assert rows.shape == eager.shape and len(rows) == 50 and rows.dtype == eager.dtype
            assert np.array_equal(rows.take(some), eager[some])
            assert np.array_equal(rows.take(slice(5, 9)), eager[5:9])
            assert np.array_equal(np.concatenate(list(rows.blocks(7))), eager)
            assert np.array_equal(rows.select(slice(9)).take(some[:3]), eager[some[:3]])
            assert np.array_equal(rows.select(slice(9)).select(np.array([2, 1])), eager[[2, 1]])
            assert np.array_equal(rows.select(some), eager[some])
            assert np.array_equal(rows.map(np.abs), np.abs(eager))
            assert np.array_equal(rows.all(), eager)
        assert np.allclose(rows.gram(20), eager[:20].T.astype(float) @ eager[:20])


def test_rows_answer_as_the_array_does(array, tmp_path):
    numbers, columns = np.array([5, 2]), np.array([1, 3])
    for rows, eager in stack(array, tmp_path):
        for key in (4, slice(2, 9), numbers, (slice(None), 0), (slice(1, 8), slice(3)), (2, 3)):
            assert np.array_equal(rows[key], eager[key])
        assert np.array_equal(rows[numbers, columns], eager[numbers, columns])
        assert np.array_equal(rows[...], eager)
        assert np.array_equal(rows.T @ rows, eager.T @ eager)
        assert np.array_equal(rows - rows.mean(axis=0), eager - eager.mean(axis=0))
        assert np.array_equal(np.sqrt(np.abs(2 * rows)), np.sqrt(np.abs(2 * eager)))
        assert (rows.ndim, rows.size) == (2, eager.size)
        assert np.asarray(rows, np.float64).dtype == np.float64
        assert np.array_equal(pickle.loads(pickle.dumps(Rows(eager))), eager)
        with pytest.raises(AttributeError, match="no attribute 'words'"):
            rows.words  # noqa: B018


def test_only_rows_that_are_asked_for_are_made(array):
    double = Counting()
    rows = Rows(array).map(double)
    assert len(rows) == 50 and double.count == 0
    assert rows.shape == (50, 7) and rows.dtype == np.float32 and double.count == 1
    rows.take(np.array([4, 5]))
    assert double.count == 3
    next(rows.blocks(10))
    assert double.count == 13
    rows.select(slice(20)).map(unit).take(slice(2))
    assert double.count == 15
    assert rows.stored is None


def test_all_rows_are_made_once_where_they_are_kept_and_each_time_elsewhere(array):
    for keep, count in ((True, 1), (False, 3)):
        double = Counting()
        rows = Rows(array).map(double, keep=keep)
        _ = rows.shape
        double.count = 0
        for _ in range(3):
            rows.all()
        assert double.count == count * len(array)
        assert (rows.all() is rows.all()) == keep == (rows.stored is not None)
    rows = Rows(array).map(double, keep=True)
    rows.all()
    double.count = 0
    rows.take(slice(5))
    rows.select(slice(5)).all()
    assert double.count == 0


def test_arrays_and_files_are_not_copied(array, tmp_path):
    assert Rows(array).all() is array and Rows.of(array).stored is array
    assert np.shares_memory(Rows(array).take(slice(3)), array)
    np.save(tmp_path / "rows.npy", array)
    everything = Rows.of_file(tmp_path / "rows.npy").all()
    assert not everything.flags.owndata and not everything.flags.writeable


def test_the_chain_tells_where_rows_come_from_and_what_they_went_through(array):
    rows = Rows(array).map(np.abs).map(unit)
    assert rows.functions == [np.abs, unit] and rows.raw.stored is array
    assert Rows(array).functions == []


def test_a_file_is_sent_by_its_path_and_a_part_of_it_too(array, tmp_path):
    big = np.tile(array, (100, 1))
    np.save(tmp_path / "rows.npy", big)
    for rows, expected in (
        (Rows.of_file(tmp_path / "rows.npy"), big),
        (Rows.of_file(tmp_path / "rows.npy").select(slice(9)), big[:9]),
    ):
        sent = pickle.dumps(rows.map(unit))
        assert len(sent) < 1500
        assert np.array_equal(pickle.loads(sent), unit(expected))


def test_a_file_that_was_cut_off_is_told(array, tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, array)
    rows = Rows.of_file(path)
    assert rows.shape == array.shape
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(FileError, match=r"rows.npy was cut off"):
        rows.take(slice(3))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_no_rows_and_no_columns(shape, tmp_path):
    for rows, eager in stack(np.empty(shape, np.float32), tmp_path):
        assert rows.shape == eager.shape and rows.all().shape == eager.shape
        assert rows.take(slice(2)).shape == eager[:2].shape

import tracemalloc

import numpy as np

from geomm_plugin.retrieval.exact.dots import exact_dots


def pairs(count, dimension):
    random = np.random.default_rng(0)
    x, z = random.normal(size=(2, 50, dimension)).astype(np.float32)
    return x, random.integers(50, size=count), z, random.integers(50, size=count)


def test_exact_dots_are_the_same_in_any_blocks():
    x, rows, z, columns = pairs(999, 33)
    whole = exact_dots(x, rows, z, columns)
    assert np.allclose(whole, (x[rows].astype(float) * z[columns]).sum(axis=1))
    for numbers in (1, 33 * 7, 33 * 998):
        assert np.array_equal(exact_dots(x, rows, z, columns, numbers), whole)


def test_exact_dots_of_long_rows_stay_small():
    x, rows, z, columns = pairs(10_000, 2500)  # all at once: 400 MB in float64
    tracemalloc.start()
    exact_dots(x, rows, z, columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6

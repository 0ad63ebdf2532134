"""Factorizations: their identities, and the few threads they run on."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info

from geomm_plugin import Embeddings, factorization, get_mapper
from geomm_plugin.errors import GeommError
from geomm_plugin.mappers.procrustes import Procrustes


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((7, 5))


def test_svd_multiplies_back_with_signs_that_do_not_depend_on_the_library(matrix):
    p, s, v = factorization.svd(matrix)
    np.testing.assert_allclose(p * s @ v.T, matrix, atol=1e-12)
    assert (np.diff(s) <= 0).all()
    largest = np.abs(p).argmax(axis=0)
    assert (p[largest, range(5)] > 0).all()


def test_eigh_multiplies_back_and_has_no_negative_values(matrix):
    square = matrix @ matrix.T  # rank 5 of 7: two values are zero, give or take
    values, vectors = factorization.eigh(square)
    assert (values >= 0).all()
    np.testing.assert_allclose(vectors * values @ vectors.T, square, atol=1e-12)


def test_polar_is_the_nearest_rotation(matrix):
    rotation = factorization.polar(matrix)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(5), atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(20):
        other, _ = np.linalg.qr(rng.standard_normal((7, 5)))
        assert np.linalg.norm(matrix - rotation) <= np.linalg.norm(matrix - other)


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_all_threads_come_back_in_the_midst_of_few():
    with factorization.all_threads():
        everything = threads()
    with factorization.few_threads():
        assert set(threads()) == {1}
        with factorization.all_threads():
            assert threads() == everything
        assert set(threads()) == {1}


def test_a_fit_has_few_threads():
    class Watching(Procrustes):
        def learn(self, vectors, pairs, report):
            self.threads_ = threads()
            return super().learn(vectors, pairs, report)

    vectors = np.random.default_rng(2).standard_normal((6, 3))
    words = Embeddings(list("abcdef"), vectors)
    pairs = {("en", "es"): [(letter, letter) for letter in "abcdef"]}
    assert set(Watching().fit({"en": words, "es": words}, pairs).threads_) == {1}


@pytest.mark.parametrize("name, shape", [("svd", (4, 4)), ("eigh", (4, 4))])
def test_one_thread_inside_and_as_many_as_before_outside(monkeypatch, name, shape):
    before, inside = threads(), []
    original = getattr(np.linalg, name)
    monkeypatch.setattr(
        np.linalg, name, lambda *args, **kw: (inside.append(threads()), original(*args, **kw))[1]
    )
    getattr(factorization, name)(np.eye(*shape))
    assert inside and set(inside[0]) == {1}
    assert threads() == before


def test_a_library_that_is_loaded_later_is_limited_too():
    """scipy brings a BLAS of its own, after numpy's was found."""
    code = (
        "import threadpoolctl\n"
        "from geomm_plugin.factorization import few_threads\n"
        "with few_threads():\n    pass\n"
        "import scipy.linalg\n"
        "with few_threads():\n"
        "    print({pool['num_threads'] for pool in threadpoolctl.threadpool_info()\n"
        "           if pool['user_api'] == 'blas'})\n"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "2"},
    )
    assert done.stdout.strip() == "{1}", done.stdout + done.stderr


def refuse(*args, **kwargs):
    raise np.linalg.LinAlgError("SVD did not converge")


@pytest.fixture
def failing(monkeypatch):
    """A machine on which the first driver of every iteration gives up."""
    for name in ("svd", "eigh", "norm", "solve"):
        monkeypatch.setattr(np.linalg, name, refuse)


def test_where_the_first_driver_gives_up_the_second_finds_the_same(matrix, failing):
    square = matrix.T @ matrix
    p, s, v = factorization.svd(matrix)
    np.testing.assert_allclose(p * s @ v.T, matrix, atol=1e-12)
    values, vectors = factorization.eigh(square)
    np.testing.assert_allclose(vectors * values @ vectors.T, square, atol=1e-12)
    np.testing.assert_allclose(values[::-1], s**2)
    assert factorization.spectral_norm(matrix) == pytest.approx(s[0])
    solution = factorization.solve(square, matrix.T)
    np.testing.assert_allclose(square @ solution, matrix.T, atol=1e-10)


def test_a_driver_whose_result_is_not_finite_counts_as_failed(matrix, monkeypatch):
    nan = np.full((5, 5), np.nan)
    monkeypatch.setattr(np.linalg, "svd", lambda *args, **kw: (nan, nan[0], nan))
    p, s, v = factorization.svd(matrix)
    np.testing.assert_allclose(p * s @ v.T, matrix, atol=1e-12)


@pytest.mark.parametrize("first", ["evr", "gvd", "gesvd"])
def test_the_third_driver_stands_behind_the_second(matrix, failing, monkeypatch, first):
    name = "svd" if first == "gesvd" else "eigh"
    original = getattr(scipy.linalg, name)

    def one_refuses(*args, **options):
        if first in options.values():
            refuse()
        return original(*args, **options)

    monkeypatch.setattr(scipy.linalg, name, one_refuses)
    p, s, v = factorization.svd(matrix)
    np.testing.assert_allclose(p * s @ v.T, matrix, atol=1e-12)
    square = matrix.T @ matrix
    np.testing.assert_allclose(factorization.eigh(square)[0][::-1], s**2)
    values, vectors = factorization.generalized_eigh(square, np.diag([1.0, 2, 3, 4, 5]))
    np.testing.assert_allclose(vectors.T @ square @ vectors, np.diag(values), atol=1e-10)


def test_where_no_driver_works_the_error_is_a_sentence(matrix, failing, monkeypatch):
    monkeypatch.setattr(scipy.linalg, "svd", refuse)
    with pytest.raises(GeommError, match=r"shape \(7, 5\) was not found: SVD did not .*'unit'"):
        factorization.svd(matrix)


@pytest.mark.parametrize("name", ["procrustes", "geomm", "geomm_multi", "msf", "cca"])
def test_mappers_fit_where_the_first_driver_gives_up(name, monkeypatch):
    random = np.random.default_rng(3)
    vectors = random.standard_normal((60, 6))
    turned = vectors @ np.linalg.qr(random.standard_normal((6, 6)))[0]
    turned += 0.1 * random.standard_normal(turned.shape)
    names = [f"w{number}" for number in range(60)]
    both = {"en": Embeddings(names, vectors), "es": Embeddings(names, turned)}
    pairs = {("en", "es"): [(word, word) for word in names]}
    before = get_mapper(name).fit(both, pairs).W("en", "es")
    for driver in ("svd", "eigh"):
        monkeypatch.setattr(np.linalg, driver, refuse)
    np.testing.assert_allclose(get_mapper(name).fit(both, pairs).W("en", "es"), before, atol=1e-6)


@pytest.mark.parametrize("exponent", [-1000, -300, -100, 0, 100, 300, 1000])
def test_extreme_sizes_give_what_ordinary_ones_give(matrix, exponent):
    p, s, v = factorization.svd(np.ldexp(matrix, exponent))
    ordinary = factorization.svd(matrix)
    np.testing.assert_array_equal(s, np.ldexp(ordinary[1], exponent))
    np.testing.assert_array_equal(p, ordinary[0])
    np.testing.assert_array_equal(v, ordinary[2])
    square = matrix.T @ matrix
    values, vectors = factorization.eigh(np.ldexp(square, exponent))
    np.testing.assert_allclose(values, np.ldexp(factorization.eigh(square)[0], exponent))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)
    expected = np.ldexp(np.linalg.norm(matrix, 2), exponent)
    assert factorization.spectral_norm(np.ldexp(matrix, exponent)) == pytest.approx(expected)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_rank_deficient_matrices_of_any_size_have_finite_factors(size, rank):
    random = np.random.default_rng(4)
    low = size * random.standard_normal((5, rank)) @ random.standard_normal((rank, 5))
    rotation = factorization.polar(low)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(5), atol=1e-12)
    values, vectors = factorization.eigh(low @ low.T)
    np.testing.assert_allclose(vectors * values @ vectors.T, low @ low.T, atol=1e-12 * size**2)
    solution = factorization.solve(low, low)
    assert np.isfinite(solution).all()
    np.testing.assert_allclose(low @ solution, low, atol=1e-8 * size)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["svd", "eigh", "polar", "spectral_norm", "generalized_eigh"])
def test_what_is_not_finite_is_refused_in_a_sentence(name, value):
    matrix = np.eye(3)
    matrix[1, 1] = value
    arguments = (matrix, np.eye(3)) if name == "generalized_eigh" else (matrix,)
    with pytest.raises(GeommError, match=r"shape \(3, 3\) needs finite numbers"):
        getattr(factorization, name)(*arguments)


ROOT = Path(__file__).parents[1]
SOURCES = [
    path
    for package in ("geomm_plugin", "adapters/geomm_adapters")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path != ROOT / "geomm_plugin" / "factorization.py"
]


def direct_calls(source):
    """Yield what a module uses of numpy's and scipy's linalg, but for errors and plain norms."""
    tree = ast.parse(source)
    plain = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and not {"ord"} & {keyword.arg for keyword in node.keywords}
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and "linalg" in (node.module or "").split("."):
            yield f"from {node.module} import {', '.join(alias.name for alias in node.names)}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            if node.value.attr != "linalg" or node.attr == "LinAlgError":
                continue
            if node.attr != "norm" or id(node) not in plain:  # norm(x, 2) of a matrix is an SVD
                yield ast.unparse(node)


def test_positive_definite_systems_are_solved_and_others_as_any():
    generator = np.random.default_rng(0)
    x, rhs = generator.standard_normal((40, 7)), generator.standard_normal((7, 3))
    gram = x.T @ x
    assert np.allclose(gram @ factorization.positive_solver(gram)(rhs), rhs)
    mirrored = gram @ np.diag([1, 1, 1, -1, 1, 1, 1.0])
    mirrored = mirrored + mirrored.T
    expected = factorization.solve(mirrored, rhs)
    assert np.array_equal(factorization.positive_solver(mirrored)(rhs), expected)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_one_module_calls_lapack(path):
    assert list(direct_calls(path.read_text(encoding="utf-8"))) == []


def test_direct_calls_are_seen():
    code = (
        "from scipy.linalg import eigh\nnp.linalg.svd(x)\nnp.linalg.norm(x)\n"
        "np.linalg.norm(x, 2)\nexcept_ = np.linalg.LinAlgError\nnp.linalg.norm(x, ord=2)\n"
    )
    seen = list(direct_calls(code))
    assert sorted(seen) == [
        "from scipy.linalg import eigh",
        "np.linalg.norm",
        "np.linalg.norm",
        "np.linalg.svd",
    ]

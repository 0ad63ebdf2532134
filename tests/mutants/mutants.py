"""Code broken on purpose; `run.py` beside this file says how it is used."""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # stands once in the file
    new: str
    tests: str  # pytest's arguments; at least one of them must fail


MUTANTS = (
    Mutant(
        "p@k counts the rank after the last",
        "geomm_plugin/evaluation/metrics.py",
        "(ranks <= k)",
        "(ranks <= k + 1)",
        "tests/evaluation/test_metrics.py",
    ),
    Mutant(
        "reciprocal ranks are squared",
        "geomm_plugin/evaluation/metrics.py",
        "1.0 / ranks)",
        "1.0 / ranks**2)",
        "tests/evaluation/test_metrics.py",
    ),
    Mutant(
        "the shallowest metric decides how deep ranks are counted",
        "geomm_plugin/evaluation/metrics.py",
        "else max((depth",
        "else min((depth",
        "tests/evaluation/test_metrics.py",
    ),
    Mutant(
        "intervals leave out twice what they should",
        "geomm_plugin/evaluation/significance.py",
        "(1 - confidence) / 2",
        "1 - confidence",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "intervals of several samples weigh the first alone",
        "geomm_plugin/evaluation/significance.py",
        "        total += drawn @ values / len(sample)",
        "        total = drawn @ values / len(sample) * len(samples)",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "McNemar's test counts words that both get right",
        "geomm_plugin/evaluation/significance.py",
        "int(np.count_nonzero(changes[0]))",
        "len(changes[0])",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "a drawn difference that equals the seen one does not count",
        "geomm_plugin/evaluation/significance.py",
        ">= observed - 1e-12",
        "> observed + 1e-12",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "Holm's method forgets that p-values must not fall",
        "geomm_plugin/evaluation/significance.py",
        "        largest = max(largest, min(",
        "        largest = max(0.0, min(",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "Holm's method adjusts by one too few",
        "geomm_plugin/evaluation/significance.py",
        "(len(p_values) - place)",
        "max(1, len(p_values) - place - 1)",
        "tests/evaluation/test_significance.py",
    ),
    Mutant(
        "labels of pairs are not used in M",
        "geomm_plugin/fitting/moments.py",
        "x.T @ (z if pairs.labels is None else z * pairs.labels[part, None])",
        "x.T @ z",
        "tests/fitting/test_moments.py",
    ),
    Mutant(
        "a word that is in two pairs counts twice in A",
        "geomm_plugin/fitting/moments.py",
        "gram(source, np.unique(pairs.source))",
        "gram(source, pairs.source)",
        "tests/fitting/test_moments.py",
    ),
    Mutant(
        "sums that left the range of floats go on",
        "geomm_plugin/fitting/moments.py",
        "if not np.isfinite(products).all():",
        "if np.isnan(products).all():",
        "tests/fitting/test_moments.py",
    ),
)

import os
import signal
import sys
import warnings
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from geomm_plugin.demo import load_demo
from geomm_plugin.dictionary import pair_languages
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.testing import Toy, make_toy

# No test asserts a time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell starts background jobs so, and
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what tests start would inherit it

for name in [name for name in os.environ if name.startswith("PYTHON")]:
    if name not in ("PYTHONPATH", "PYTHONHOME"):  # whoever runs the tests may have set others, such
        del os.environ[name]  # as PYTHONUNBUFFERED, and what tests start would behave otherwise


@pytest.fixture(scope="session")
def demo():
    return load_demo()


@pytest.fixture
def toy():
    return make_toy()


@pytest.fixture
def two():
    return make_toy(words=400, pairs=150, drawn=True, noise=0.3)


@pytest.fixture
def uneven():
    return make_toy({"en": 12, "es": 9}, words=400, pairs=150, drawn=True, noise=0.3)


@pytest.fixture
def three():
    return make_toy(("en", "es", "it"), words=400, pairs=200, drawn=True, noise=0.3)


@pytest.fixture
def moments_of():
    """The moments of a toy's dictionary, as a fitted mapper normalizes the vectors."""

    def moments(toy, mapper, source="en", target="es"):
        pairs = pair_languages(toy.embeddings, toy.dictionaries)[source, target]
        views = [mapper.normalizer_.view(n, toy.embeddings[n].vectors) for n in (source, target)]
        return Moments.of(*views, pairs)

    return moments


@pytest.fixture(scope="session")
def europarl(demo):
    """The embedded data as a toy."""
    return Toy(demo.embeddings, demo.train)


@pytest.fixture(scope="session")
def demo_precision(demo):
    """P@1 of a fitted mapper on a test dictionary of the demo data."""

    def precision(mapper, source, target, retrieval="csls"):
        gold: dict[str, set[str]] = {}
        for word, translation in demo.test[source, target]:
            gold.setdefault(word, set()).add(translation)
        space = mapper.map(demo.embeddings)
        answers = space.translate(list(gold), source, target, k=1, retrieval=retrieval)
        return np.mean([best[0][0] in gold[word] for word, best in zip(gold, answers, strict=True)])

    return precision


@pytest.fixture(scope="session")
def dask_cluster():
    """The address of a Dask scheduler with two worker processes, which see the checkout."""
    distributed = pytest.importorskip("distributed")
    import dask

    paths = os.pathsep.join(path for path in sys.path if path)
    settings = {
        "distributed.nanny.pre-spawn-environ.PYTHONPATH": paths,
        "distributed.comm.timeouts.connect": "300s",  # busy machines start slowly
    }
    with ExitStack() as open_until_the_end:
        open_until_the_end.enter_context(dask.config.set(settings))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # of sockets of Dask 2024.9
            cluster = distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
        yield open_until_the_end.enter_context(cluster).scheduler_address

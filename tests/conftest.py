import pytest

from geomm_plugin.demo import load_demo
from geomm_plugin.testing import make_toy


@pytest.fixture(scope="session")
def demo():
    return load_demo()


@pytest.fixture
def toy():
    return make_toy()

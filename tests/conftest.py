import pytest
from hypothesis import settings

from geomm_plugin.demo import load_demo
from geomm_plugin.testing import make_toy

settings.register_profile("patient", deadline=None)  # no test asserts a time
settings.load_profile("patient")


@pytest.fixture(scope="session")
def demo():
    return load_demo()


@pytest.fixture
def toy():
    return make_toy()

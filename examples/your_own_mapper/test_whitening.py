from geomm_whitening import Whitening

from geomm_plugin.testing import check_mapper


def test_contract():
    check_mapper(Whitening)

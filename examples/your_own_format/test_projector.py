import geomm_projector
from geomm_projector import Projector

from geomm_plugin import read_embeddings, write_embeddings
from geomm_plugin.testing import check_format

pytest_plugins = ["geomm_plugin.testing.fixtures"]


def test_contract():
    check_format(Projector)


def test_the_suffix_finds_it(registered, toy_languages, tmp_path):
    registered(geomm_projector)
    write_embeddings(toy_languages.embeddings["en"], tmp_path / "en.tsv")
    assert read_embeddings(tmp_path / "en.tsv").words == toy_languages.embeddings["en"].words

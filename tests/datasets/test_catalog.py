from urllib.parse import urlsplit

import pytest

from geomm_plugin.datasets.catalog import data_sets, find_data_set
from geomm_plugin.errors import ParameterError, UnknownNameError


def test_a_part_fills_in_addresses_and_places():
    (file,) = find_data_set("wiki").wanted(["es"])
    assert file.url == "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.es.vec"
    assert file.path == "wiki/wiki.es.vec"
    paths = [file.path for file in find_data_set("muse").wanted(["en-es", "es-en"])]
    assert len(paths) == 6 and paths[0] == "muse/en-es.0-5000.txt" and paths[5] == "muse/es-en.txt"


@pytest.mark.parametrize("name", list(data_sets()))
def test_every_data_set_says_where_it_comes_from(name):
    found = find_data_set(name)
    assert found.title and found.size and found.licence and urlsplit(found.origin).netloc
    places = set()
    for file in found.wanted(found.example.split()):
        assert urlsplit(file.url).scheme in ("http", "https") and "{" not in file.url + file.path
        for path in (file.path, *file.members.values()):
            assert ".." not in path and not path.startswith("/") and path not in places
            places.add(path)


def test_what_is_not_there_is_refused():
    with pytest.raises(UnknownNameError, match="no data set 'wikis'. Did you mean 'wiki'?"):
        find_data_set("wikis")
    with pytest.raises(ParameterError, match="muse needs pairs, e.g. `geomm fetch muse en-es`"):
        find_data_set("muse").wanted([])
    with pytest.raises(ParameterError, match="vecmap stands alone"):
        find_data_set("vecmap").wanted(["en"])
    for part in ("en", "en-es-it", "../..-es", "en-"):
        with pytest.raises(ParameterError, match="is not among the pairs of muse"):
            find_data_set("muse").wanted([part])
    with pytest.raises(ParameterError, match="is not among the languages of wiki"):
        find_data_set("wiki").wanted(["../en"])

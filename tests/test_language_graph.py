import pytest

from geomm_plugin.errors import LanguagesError
from geomm_plugin.language_graph import check_connected, choose_hub, spanning_tree


def test_the_tree_walks_from_the_root_whatever_the_order_of_the_edges():
    edges = [("en", "es"), ("it", "es"), ("fr", "en"), ("it", "fr")]
    tree = spanning_tree(edges, "en")
    assert tree == spanning_tree(edges[::-1], "en")
    assert tree == [("es", "en"), ("fr", "en"), ("it", "es")]


def test_the_hub_has_most_dictionaries_and_of_two_it_is_the_target():
    assert choose_hub([("en", "es")]) == "es"
    assert choose_hub([("es", "en")]) == "en"
    assert choose_hub([("en", "es"), ("en", "fr")]) == "en"


def test_a_language_without_dictionary_is_named():
    with pytest.raises(LanguagesError) as caught:
        check_connected(["en", "es", "fr"], [("en", "es")])
    assert str(caught.value) == (
        "No dictionary links fr to the others (en, es); add one such as dictionaries[('fr', 'es')]."
    )


def test_a_graph_in_two_parts_names_the_parts():
    with pytest.raises(LanguagesError, match=r"in 2 parts: \(en, es\) and \(fr, it\)"):
        check_connected(["en", "es", "fr", "it"], [("en", "es"), ("it", "fr")])


def test_one_language_is_not_enough():
    with pytest.raises(LanguagesError, match="at least two languages"):
        check_connected(["en"], [])

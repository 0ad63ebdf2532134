"""What objects look like in a notebook (`_repr_html_`)."""

import numpy as np

from geomm_plugin import Embeddings, SharedSpace, evaluate, get_mapper
from geomm_plugin.text import html_table

ODD = "<script>alert(1)</script>"


def test_every_text_is_escaped():
    page = html_table([ODD], [[ODD, "\udcff"]], ODD)
    assert "<script" not in page and page.count("&lt;script&gt;") == 3 and "\\udcff" in page


def test_spaces_scores_and_mappers_are_tables():
    space = SharedSpace({ODD: Embeddings(["a", "b"], np.eye(2)), "es": Embeddings(["c"], [[1, 0]])})
    assert "<td>2</td>" in space._repr_html_() and "<script" not in space._repr_html_()
    scores = evaluate(space, ODD, "es", [("a", "c")], "cosine")
    assert "<td>1.000</td>" in scores._repr_html_() and "<script" not in scores._repr_html_()
    page = get_mapper("geomm", regularization=7.0)._repr_html_()
    assert "<caption>GeoMM</caption>" in page and "<td>7.0</td>" in page


def test_a_fitted_mapper_tells_its_languages_and_the_lambda_that_it_chose(demo):
    small = {name: demo.embeddings[name].head(300) for name in ("en", "es")}
    mapper = get_mapper("geomm")
    assert "languages" not in mapper._repr_html_()
    mapper.fit(small, {("en", "es"): demo.train["en", "es"]})
    page = mapper._repr_html_()
    chosen = mapper.report_.regularization["en-es"].value
    assert "<td>languages</td><td>en, es</td>" in page
    assert f"<td>regularization, en-es</td><td>{chosen:g}</td>" in page

import numpy as np

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.fitting.seeds.seed import weighted_pairs
from geomm_plugin.mappers.umwe import refine


def test_exact_pairs_of_all_languages_are_brought_together():
    random = np.random.default_rng(0)
    cloud = random.normal(size=(80, 6))
    turns = {name: np.linalg.qr(random.normal(size=(6, 6)))[0] for name in ("a", "b", "c")}
    vectors = {name: cloud @ turn for name, turn in turns.items()}
    rows = np.arange(80)
    pairs = {edge: weighted_pairs(rows, rows, np.ones(80)) for edge in (("a", "b"), ("b", "c"))}
    maps = refine(vectors, pairs, {name: np.eye(6) for name in vectors}, "b")
    assert np.array_equal(maps["b"], np.eye(6))
    for name in ("a", "c"):  # c meets a through b alone
        assert np.allclose(vectors[name] @ maps[name], vectors["b"], atol=1e-8)


def test_three_languages_are_refined_together(demo):
    mapper = get_mapper("umwe", rounds=2).fit(demo.embeddings, {})
    assert set(mapper.report_.recover) == {"en-es", "en-it", "es-it"}
    space = mapper.map(demo.embeddings)
    assert evaluate(space, "es", "it", demo.test["es", "it"]).scores["p@1"] > 0.85

"""Many languages at once: the bilingual case, the two solvers, odd graphs."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.errors import LanguagesError
from geomm_plugin.testing import Toy, make_toy


def solver_of(mapper):
    (run,) = mapper.report_.solver.values()
    return run


@pytest.mark.parametrize("solver", ["quasi-newton", "riemannian"])
def test_two_languages_agree_with_the_closed_form(toy, solver):
    pairs = len(toy.dictionaries["en", "es"])
    exact = toy.fit(get_mapper("geomm", regularization=5.0))
    joint = toy.fit(
        get_mapper("geomm_multi", regularization=5.0 / pairs, solver=solver, tolerance=1e-10)
    )
    assert np.allclose(joint.W("en", "es"), exact.W("en", "es"), atol=1e-5 * norm(exact))


def norm(mapper):
    return np.linalg.norm(mapper.W("en", "es"))


def make_cycle(**kwargs):
    """Four languages, dictionaries in either direction, with a cycle."""
    toy = make_toy(("de", "en", "es", "it"), **kwargs)
    names = [[f"{language}{n}" for n in range(80)] for language in ("de", "en", "es", "it")]
    de, en, es, it = names
    return Toy(
        toy.embeddings,
        {
            ("en", "de"): list(zip(en, de, strict=True)),
            ("en", "es"): list(zip(en, es, strict=True))[:60],
            ("it", "es"): list(zip(it, es, strict=True))[:50],
            ("it", "en"): list(zip(it, en, strict=True)),
        },
    )


def test_the_solvers_agree_on_a_cycle():
    toy = make_cycle()
    params = {"regularization": 0.05, "tolerance": 1e-8}
    ours = toy.fit(get_mapper("geomm_multi", **params))
    theirs = toy.fit(get_mapper("geomm_multi", solver="riemannian", **params))
    assert solver_of(ours).cost <= solver_of(theirs).cost * (1 + 1e-6)
    assert np.allclose(ours.W("de", "it"), theirs.W("de", "it"), atol=2e-2 * norm(ours))


def test_rotated_clouds_are_recovered_in_every_pair():
    toy = make_cycle(noise=0.0)
    space = toy.fit(get_mapper("geomm_multi")).map(toy.embeddings)
    for source in space:
        for target in space:
            words = [f"{source}{n}" for n in range(100, 120)]  # in no dictionary
            best = [found[0][0] for found in space.translate(words, source, target, k=1)]
            assert best == [f"{target}{n}" for n in range(100, 120)]


def test_direction_of_a_dictionary_does_not_matter():
    toy = make_cycle()
    turned = Toy(
        toy.embeddings,
        {(t, s): [(b, a) for a, b in found] for (s, t), found in toy.dictionaries.items()},
    )
    one = toy.fit(get_mapper("geomm_multi", regularization=0.1)).W("de", "es")
    other = turned.fit(get_mapper("geomm_multi", regularization=0.1)).W("de", "es")
    assert np.allclose(one, other, atol=1e-3 * np.linalg.norm(one))


def test_languages_may_differ_in_dimension():
    toy = make_cycle()
    vectors = toy.embeddings["es"].vectors
    smaller = Toy(
        toy.embeddings | {"es": Embeddings(toy.embeddings["es"].words, vectors[:, :9])},
        toy.dictionaries,
    )
    mapper = smaller.fit(get_mapper("geomm_multi", regularization=0.1))
    assert mapper.W("es", "it").shape == (9, 12)
    assert mapper.map(smaller.embeddings).translate("es3", "es", "en", k=1)[0][0] == "en3"


def test_a_graph_in_two_parts_is_refused_by_name():
    toy = make_toy(("de", "en", "es", "it"))
    halves = {key: toy.dictionaries["de", "en"] for key in [("de", "en")]}
    halves["es", "it"] = [(f"es{n}", f"it{n}") for n in range(50)]
    with pytest.raises(LanguagesError, match=r"\(de, en\) and \(es, it\)"):
        get_mapper("geomm_multi").fit(toy.embeddings, halves)


def test_report_tells_how_the_search_went():
    mapper = make_cycle().fit(get_mapper("geomm_multi", max_iterations=3))
    run = solver_of(mapper)
    assert run.iterations == 3
    assert "limit of 3" in run.stopped
    assert 0 < run.cost < 4
    (choice,) = mapper.report_.regularization.values()
    assert choice.value in choice.scores


def test_auto_takes_the_best_lambda_and_refits_on_all_pairs():
    toy = make_toy(("en", "es", "it"), words=200, noise=0.5, pairs=60)
    mapper = toy.fit(get_mapper("geomm_multi"))
    (choice,) = mapper.report_.regularization.values()
    scores = choice.scores
    assert scores[choice.value] == max(scores.values())
    smallest, *_, largest = scores.values()
    assert max(smallest, largest) < max(scores.values())  # so neither end will do
    again = toy.fit(get_mapper("geomm_multi", regularization=choice.value))
    assert np.array_equal(mapper.W("es", "it"), again.W("es", "it"))


@pytest.mark.parametrize("pairs", [3, 8])
def test_fewer_pairs_than_dimensions_need_no_regularization(pairs):
    toy = make_toy(("en", "es", "it"), pairs=pairs)
    free = solver_of(toy.fit(get_mapper("geomm_multi", regularization=0.0)))
    regularized = solver_of(toy.fit(get_mapper("geomm_multi", regularization=1e-6)))
    assert free.iterations > 1
    assert free.cost <= regularized.cost

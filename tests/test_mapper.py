"""What linear and hub mappers share."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from geomm_plugin import (
    HubMapper,
    LinearMapper,
    evaluate,
    get_mapper,
)
from geomm_plugin.errors import (
    FormatError,
    LanguagesError,
    NotFittedError,
    ParameterError,
)
from geomm_plugin.fitting.latent import latent_maps
from geomm_plugin.mappers import GeoMM, Procrustes
from geomm_plugin.registry.parameters import parse_settings
from geomm_plugin.testing import Toy, make_toy

LINEAR = ["procrustes", "geomm", "unconstrained", "regression", "metric_only", "rotation_only"]
OF_DIFFERENT_DIMENSIONS = ["procrustes", "geomm", "unconstrained", "regression", "rotation_only"]


@pytest.mark.parametrize("name", LINEAR)
def test_W_is_the_score_of_normalized_vectors(name, toy):
    toy = make_toy(dtype="float64")
    mapper = toy.fit(get_mapper(name))
    x, z = toy.embeddings["en"].vectors, toy.embeddings["es"].vectors
    normalized_x = mapper.normalizer_.transform("en", x)
    normalized_z = mapper.normalizer_.transform("es", z)
    scores = mapper.transform("en", x) @ mapper.transform("es", z).T
    assert np.allclose(normalized_x @ mapper.W("en", "es") @ normalized_z.T, scores, atol=1e-9)
    assert np.allclose(mapper.W("es", "en"), mapper.W("en", "es").T)


@pytest.mark.parametrize("name", ["procrustes", "geomm", "unconstrained", "regression"])
def test_a_rotated_cloud_is_recovered(name):
    toy = make_toy(noise=0, dtype="float64")
    space = toy.fit(get_mapper(name)).map(toy.embeddings)
    pairs = [(f"en{n}", f"es{n}") for n in range(120)]
    assert evaluate(space, "en", "es", pairs).scores["p@1"] == 1


@pytest.mark.parametrize("name", OF_DIFFERENT_DIMENSIONS)
@pytest.mark.parametrize("smaller", ["en", "es"])
def test_languages_of_different_dimension(name, smaller):
    whole = make_toy(noise=0.01, words=300)
    embeddings = dict(whole.embeddings)
    values = embeddings[smaller].vectors
    directions = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)[2][:9]
    embeddings[smaller] = type(embeddings[smaller])(
        embeddings[smaller].words, values @ directions.T
    )
    toy = Toy(embeddings, whole.dictionaries)
    space = toy.fit(get_mapper(name)).map(toy.embeddings)
    pairs = [(f"en{n}", f"es{n}") for n in range(300)]
    lowest = 0.5 if name != "rotation_only" else 0.0
    assert evaluate(space, "en", "es", pairs).scores["p@1"] >= lowest


def test_metric_only_refuses_different_dimensions():
    toy = make_toy()
    toy.embeddings["es"] = make_toy(("es",), dimension=9).embeddings["es"]
    with pytest.raises(LanguagesError, match="metric_only needs languages of one dimension"):
        toy.fit(get_mapper("metric_only"))


@pytest.mark.parametrize("name", ["procrustes", "geomm", "unconstrained", "regression"])
def test_many_languages_through_a_hub(name):
    toy = make_toy(("en", "es", "it", "fr"), words=200)
    mapper = toy.fit(get_mapper(name))
    space = mapper.map(toy.embeddings)
    assert mapper.report_.hub == "en"
    pairs = [(f"es{n}", f"it{n}") for n in range(200)]  # no dictionary links these two
    assert evaluate(space, "es", "it", pairs).scores["p@1"] > 0.95


def test_a_chain_of_dictionaries_is_composed():
    toy = make_toy(("a", "b", "c"), noise=0, dtype="float64")
    chain = {
        ("a", "b"): [(f"a{n}", f"b{n}") for n in range(80)],
        ("b", "c"): [(f"b{n}", f"c{n}") for n in range(80)],
    }
    mapper = Procrustes(hub="c").fit(toy.embeddings, chain)
    assert np.allclose(mapper.W("a", "c"), mapper.W("a", "b") @ mapper.W("b", "c"))


def test_the_hub_can_be_chosen_and_must_exist(toy):
    mapper = toy.fit(Procrustes(hub="en"))
    assert np.array_equal(mapper.matrices_["en"], np.eye(12))
    with pytest.raises(LanguagesError, match="The hub 'fr' is none of the languages"):
        toy.fit(Procrustes(hub="fr"))


def test_dictionaries_that_a_hub_cannot_use_are_named():
    toy = make_toy(("en", "es", "it"))
    toy.dictionaries["es", "it"] = [("es1", "it1")]
    with pytest.warns(UserWarning, match="does not use the dictionaries es-it"):
        toy.fit(Procrustes(hub="en"))


def test_latent_maps_keep_W_and_share_its_metric():
    random = np.random.default_rng(0)
    for W in (random.normal(size=(6, 6)), random.normal(size=(9, 2)) @ random.normal(size=(2, 6))):
        source, target = latent_maps(W)
        assert np.allclose(source @ target.T, W)
        singular = np.linalg.svd(W, compute_uv=False)[: source.shape[1]]
        for side in (source, target):
            assert np.allclose(side.T @ side, np.diag(singular))
    with pytest.raises(LanguagesError, match="leaves no direction to map along"):
        latent_maps(np.zeros((6, 6)))


def test_parameters_are_checked_in_fit_and_printed(toy):
    assert repr(GeoMM(regularization=5)) == "GeoMM(regularization=5)"
    for wrong in ({"regularization": -1}, {"solver": "fast"}, {"seed": 1.5}, {"normalize": "unit"}):
        with pytest.raises(ParameterError, match=f"geomm: {next(iter(wrong))}="):
            toy.fit(GeoMM(**wrong))
    with pytest.raises(ParameterError, match="no parameter 'sede'. Did you mean 'seed'?"):
        GeoMM().set_params(sede=1)


def test_scikit_learn_can_clone_a_mapper():
    from sklearn.base import clone

    mapper = GeoMM(regularization=7, normalize=("unit",))
    copy = clone(mapper)
    assert copy is not mapper and copy.get_params() == mapper.get_params()


def test_not_fitted(toy):
    for call in (lambda m: m.W("en", "es"), lambda m: m.state(), lambda m: m.map(toy.embeddings)):
        with pytest.raises(NotFittedError, match="This geomm mapper is not fitted; call fit\\(\\)"):
            call(GeoMM())


def test_nan_is_found_and_named(toy):
    toy.embeddings["es"].vectors[3, 0] = np.nan
    with pytest.raises(FormatError, match=r"'es3' \(row 3 of es\) holds NaN"):
        toy.fit(Procrustes(hub="en"))


@pytest.mark.parametrize("name", ["geomm_unsup", "icp", "umwe", "wasserstein_procrustes"])
def test_a_language_without_words_is_named(name, toy):
    toy.embeddings["es"] = toy.embeddings["es"].head(0)
    with pytest.raises(LanguagesError, match="embeddings of es hold no words"):
        toy.fit(get_mapper(name))


def test_a_single_vector_and_whole_numbers_can_be_transformed(toy):
    mapper = toy.fit(Procrustes())
    vectors = toy.embeddings["en"].vectors
    assert np.allclose(mapper.transform("en", vectors[4]), mapper.transform("en", vectors)[4])
    assert mapper.transform("en", np.ones((2, 12), int)).dtype == np.float32


def test_fit_never_copies_the_vocabulary():
    """A fit on a few pairs of a large vocabulary takes far less memory than the vocabulary."""
    import tracemalloc

    random = np.random.default_rng(0)
    toy = make_toy(words=60, dimension=50)
    extra = random.normal(size=(60_000, 50)).astype(np.float32)
    large = {
        name: type(e)([*e.words, *(f"{name}x{n}" for n in range(60_000))],
                      np.concatenate([e.vectors, extra]))
        for name, e in toy.embeddings.items()
    }  # fmt: skip
    for value in large.values():
        assert value.row_of
    tracemalloc.start()
    GeoMM(regularization=10).fit(large, toy.dictionaries)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * extra.nbytes, peak


def test_a_mapper_of_a_few_lines(toy):
    @dataclass(kw_only=True, eq=False, repr=False)
    class Identity(LinearMapper):
        """Maps nothing."""

        name: ClassVar[str] = "identity"

        def learn(self, vectors, pairs, report):
            return {language: np.eye(view.shape[1]) for language, view in vectors.items()}

    mapper = toy.fit(Identity(normalize=()))
    vectors = toy.embeddings["en"].vectors
    assert np.array_equal(mapper.transform("en", vectors), vectors)


def test_a_hub_mapper_of_a_few_lines(toy):
    @dataclass(kw_only=True, eq=False, repr=False)
    class LeastSquares(HubMapper):
        """Least squares."""

        name: ClassVar[str] = "least_squares"

        def learn_pair(self, x, z):
            return np.linalg.lstsq(x, z)[0]

    space = toy.fit(LeastSquares()).map(toy.embeddings)
    pairs = [(f"en{n}", f"es{n}") for n in range(120)]
    assert evaluate(space, "en", "es", pairs).scores["p@1"] > 0.9


def test_a_learn_that_forgets_a_language_is_told(toy):
    class Forgetful(LinearMapper):
        """Learns one language only."""

        name = "forgetful"

        def learn(self, vectors, pairs, report):
            return {"en": np.eye(vectors["en"].shape[1])}

    with pytest.raises(LanguagesError, match="forgetful must learn a matrix for each of en, es"):
        toy.fit(Forgetful())


def test_what_is_no_table_of_numbers_cannot_be_transformed(toy):
    mapper = toy.fit(Procrustes())
    with pytest.raises(LanguagesError, match=r"the rows of a table; these have the shape"):
        mapper.transform("en", np.ones((2, 3, 4)))
    with pytest.raises(FormatError, match="a table of numbers"):
        mapper.transform("en", "dog")


def test_parameters_without_annotations_are_typed_by_their_defaults():
    class Plain:
        """Of an author who writes no annotations."""

        def __init__(self, flag=False, count=3, share=0.5, names=("a",), x=None):
            """Store nothing."""

    texts = {"flag": "false", "count": "7", "share": "1", "names": "a,b", "x": "none"}
    assert parse_settings(Plain, texts) == {
        "flag": False,
        "count": 7,
        "share": 1.0,
        "names": ("a", "b"),
        "x": None,
    }
    assert parse_settings(Plain, {"x": "0.5"}) == {"x": 0.5}
    with pytest.raises(ParameterError, match="flag takes true or false"):
        parse_settings(Plain, {"flag": "perhaps"})


@pytest.mark.parametrize("text", ["1_0", "\u0661\u0660", " 10", "0x10", "nan", "inf", "1e999"])
def test_only_plain_decimal_numbers_are_numbers_in_settings(text):
    with pytest.raises(ParameterError, match="regularization"):
        parse_settings(GeoMM, {"regularization": text})


@pytest.mark.parametrize("text, value", [("10", 10), ("1e3", 1000), ("+.5", 0.5), ("2.", 2)])
def test_plain_decimal_numbers_are_read(text, value):
    assert parse_settings(GeoMM, {"regularization": text}) == {"regularization": value}

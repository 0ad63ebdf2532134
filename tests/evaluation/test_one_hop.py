"""Three ways through a pivot, on toys where the answer is known and on the demo data."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import get_mapper
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER
from geomm_plugin.dictionary import as_dictionaries, oriented
from geomm_plugin.errors import DictionaryError, LanguagesError, ParameterError
from geomm_plugin.evaluation.one_hop import disjoint_pivot, find_pivot, one_hop
from geomm_plugin.normalize import unit
from geomm_plugin.testing import make_toy

MAPPERS = ("procrustes", "geomm", "geomm_multi")


@pytest.fixture
def three():
    """Make es and it, linked through en alone."""
    toy = make_toy(("en", "es", "it"), words=150, dimension=10, noise=0.1)
    test = {("es", "it"): [(f"es{n}", f"it{n}") for n in range(100, 150)]}
    return toy.embeddings, toy.dictionaries, test


def test_every_way_finds_its_way(three):
    found = one_hop(*three, mappers=MAPPERS)
    ways = [(r.about["method"], r.about["mapper"]) for r in found.scores]
    assert sorted(ways) == [
        ("composition", "geomm"),
        ("composition", "procrustes"),
        ("joint", "geomm_multi"),
        ("pipeline", "geomm"),
        ("pipeline", "procrustes"),
    ]
    for result in found.scores:
        assert result.about["path"] == "es-en-it"
        assert result.scores["p@1"] > 0.9, result
        assert result.scores["p@1"] == result.items.mean()
        assert (result.details["coverage"], result.details["n_words"]) == (1.0, 50)


def test_composition_of_rotations_is_their_product(three):
    embeddings, dictionaries, _ = three
    mapper = get_mapper("procrustes", hub="en").fit(embeddings, dictionaries)
    there, back = mapper.W("es", "en"), mapper.W("en", "it")
    assert np.allclose(mapper.W("es", "it"), there @ back)


def test_in_the_pivots_space_words_meet_by_the_product_of_both_maps():
    """cos(x W_1, z W_2') by hand, each W of its pair alone."""
    toy = make_toy(("en", "es", "it"), words=150, dimension=10, noise=0.6)
    embeddings, dictionaries = toy.embeddings, toy.dictionaries
    mapper = get_mapper("geomm", regularization=1.0, normalize=("unit",))
    W = {}
    for pair in (("es", "en"), ("en", "it")):
        two = {name: embeddings[name] for name in pair}
        W[pair] = mapper.clone().fit(two, {pair: oriented(as_dictionaries(dictionaries), *pair)})
    x = unit(unit(embeddings["es"].vectors) @ W["es", "en"].W("es", "en"))
    z = unit(unit(embeddings["it"].vectors) @ W["en", "it"].W("en", "it").T)
    answers = [(f"es{n}", f"it{best}") for n, best in enumerate((x @ z.T).argmax(axis=1))]
    test = {("es", "it"): answers}
    settings = {"mappers": mapper, "retrieval": "cosine"}
    methods = ["pivot_space", "composition"]
    found = one_hop(embeddings, dictionaries, test, methods=methods, **settings)
    by_method = {result.about["method"]: result.scores["p@1"] for result in found.scores}
    assert by_method["pivot_space"] == 1.0, "its answers are these"
    assert by_method["composition"] < 1.0, "one metric of the pivot's words lies in between"
    turns = one_hop(embeddings, dictionaries, test, mappers="procrustes", methods=methods)
    first, second = (result.scores for result in turns.scores)
    assert first == second, "rotations have no metric"
    with pytest.raises(ParameterError, match="no way 'product'.*There are: composition, pivot"):
        one_hop(embeddings, dictionaries, test, methods=["product"])


def test_a_pipeline_goes_through_one_word():
    """Its answer is the target word nearest to the pivot word, whatever else the source says."""
    toy = make_toy(("en", "es", "it"), words=150, dimension=10, noise=0.6)
    embeddings, dictionaries = toy.embeddings, toy.dictionaries
    near = get_mapper("procrustes").fit(
        {n: embeddings[n] for n in ("es", "en")}, {("en", "es"): dictionaries["en", "es"]}
    )
    far = get_mapper("procrustes").fit(
        {n: embeddings[n] for n in ("en", "it")}, {("en", "it"): dictionaries["en", "it"]}
    )
    first = near.map({n: embeddings[n] for n in ("es", "en")})
    second = far.map({n: embeddings[n] for n in ("en", "it")})
    words = [f"es{n}" for n in range(150)]
    answers = []
    for word in words:
        step = first.translate(word, "es", "en", k=1)[0][0]
        answers.append((word, second.translate(step, "en", "it", k=1)[0][0]))
    found = one_hop(embeddings, dictionaries, {("es", "it"): answers}, mappers=["procrustes"])
    by_method = {result.about["method"]: result.scores["p@1"] for result in found.scores}
    assert by_method["pipeline"] == 1.0
    assert by_method["composition"] < 1.0


@pytest.mark.parametrize("hub", ["es", "it", "fr"])
def test_the_pivot_is_the_hub_whatever_the_mapper_was_told(hub):
    toy = make_toy(("en", "es", "it"), words=150, dimension=10, noise=0.6)
    test = {("es", "it"): [(f"es{n}", f"it{n}") for n in range(150)]}
    told = get_mapper("geomm", regularization=1.0, hub=hub)
    plain, found = (
        one_hop(toy.embeddings, toy.dictionaries, test, mappers=[mapper], pivot="en").scores
        for mapper in (get_mapper("geomm", regularization=1.0), told)
    )
    assert [r.scores for r in found] == [r.scores for r in plain]
    assert told.hub == hub  # the mapper itself is left alone


def test_dictionaries_may_point_either_way(three):
    embeddings, dictionaries, test = three
    turned = {(t, s): [(b, a) for a, b in found] for (s, t), found in dictionaries.items()}
    one = one_hop(embeddings, dictionaries, test, mappers=["procrustes"])
    other = one_hop(embeddings, turned, test, mappers=["procrustes"])
    assert one.rows == other.rows
    assert oriented(as_dictionaries(turned), "en", "es") == list(dictionaries["en", "es"])


def test_disjoint_pivot_leaves_no_pivot_word_in_both():
    first = [(f"s{n}", f"p{n}") for n in range(100)]
    second = [(f"p{n}", f"t{n}") for n in range(50, 200)]
    one, other = disjoint_pivot(first, second, seed=3)
    assert not {p for _, p in one} & {p for p, _ in other}
    assert len(one) == 75 and len(other) == 125
    assert set(one) <= set(first) and set(other) <= set(second)
    assert (one, other) == disjoint_pivot(first, second, seed=3)
    assert (one, other) != disjoint_pivot(first, second, seed=4)
    with pytest.raises(DictionaryError, match="nothing is left"):
        disjoint_pivot([("s", "p")], [("p", "t")])


def test_the_pivot_is_found_or_asked_for():
    pairs = {("en", "es"): [], ("it", "en"): [], ("fr", "es"): [], ("fr", "it"): []}
    assert find_pivot("es", "it", {k: [] for k in list(pairs)[:2]}, None) == "en"
    assert find_pivot("es", "it", pairs, "fr") == "fr"
    with pytest.raises(LanguagesError, match="through en or fr. Name the pivot"):
        find_pivot("es", "it", pairs, None)
    with pytest.raises(LanguagesError, match="needs dictionaries with es and with it"):
        find_pivot("es", "it", pairs, "de")
    with pytest.raises(LanguagesError, match="No language has dictionaries with both en and fr"):
        find_pivot("en", "fr", {("en", "es"): []}, None)


def test_tables_tell_the_same_numbers(three):
    found = one_hop(*three, mappers=("procrustes", "geomm_multi"))
    rows = json.loads(found.to_json())
    assert [row["p@1"] for row in rows] == [result.scores["p@1"] for result in found.scores]
    for result in found.scores:
        row = result.row()
        line = f"| {row['method']} | {row['mapper']} | {row['p@1']:.3f} |"
        assert line in found.to_markdown().replace("**", "")
    covered = f"es-en-it, P@1 (coverage {found.rows[0]['coverage']:.2f})"
    assert str(found).splitlines()[0].split() == ["method", "mapper", *covered.split()]


def test_what_is_missing_is_named(three):
    embeddings, dictionaries, test = three
    for missing in ("en", "es"):
        rest = {name: value for name, value in embeddings.items() if name != missing}
        with pytest.raises(LanguagesError, match=f"embeddings of '{missing}'; there are"):
            one_hop(rest, dictionaries, test, mappers="procrustes")
    with pytest.raises(DictionaryError, match="one of its items is 'ab'"):
        one_hop(embeddings, dictionaries, {("es", "it"): ["ab"]})
    with pytest.raises(DictionaryError, match="one of its items is 'ab'"):
        one_hop(embeddings, dictionaries | {("en", "es"): ["ab"]}, test)


@pytest.mark.parametrize(("mapper", "method"), [("procrustes", "joint"), ("gpa", "pipeline")])
def test_a_method_that_no_mapper_goes_by_is_refused(three, mapper, method):
    with pytest.raises(ParameterError, match=f"None of {mapper} goes by {method}: mappers of"):
        one_hop(*three, mappers=mapper, methods=[method])


def test_rows_carry_what_they_were_made_from():
    files = [f"{language}={FOLDER}/{language}.vec.gz" for language in ("en", "es", "it")]
    files += [f"-den-{x}={FOLDER}/en-{x}.train.txt" for x in ("es", "it")]
    line = ["onehop", *files, f"--test=es-it={FOLDER}/es-it.test.txt", "--disjoint-pivot", "-q"]
    line += ["--mapper=geomm", "--mapper=geomm_multi"]
    rows = json.loads(CliRunner().invoke(group, [*line, "--json"]).stdout)
    assert [row["method"] for row in rows] == ["composition", "pipeline", "joint"]
    for row in rows:
        assert row["p@1"] > 0.7 and row["disjoint_pivot"] is True
        assert row["parameters"]["regularization"] == "auto" and row["seed"] == 0
        assert row["method"] == "joint" or len(row["regularization"]) == 2
        assert row["retrieval"] == "csls" and row["versions"]["numpy"] == np.__version__
        assert set(row["files"]) == {
            *("embeddings en", "embeddings es", "embeddings it"),
            *("dictionary en-es", "dictionary en-it", "test es-it"),
        }
        assert all(len(checksum) == 64 for checksum in row["files"].values())
    wrong = CliRunner().invoke(group, [*line, "--pivot=es"])
    assert wrong.exit_code == 2 and "The pivot 'es' needs dictionaries" in wrong.output

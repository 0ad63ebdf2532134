"""An old index under a new model: what is exact, what is chance, and what is written down."""

import json

import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper, load_mapper
from geomm_plugin.errors import (
    DictionaryError,
    FileError,
    FormatError,
    LanguagesError,
    ParameterError,
)
from geomm_plugin.migration import FAR, INDEX, KEPT, QUERIES, migrate
from geomm_plugin.normalize import unit

RIDGE = "regression:normalize=unit,regularization=0.01"


def rotation(dimension, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dimension, dimension)))[0]


def make_rows(count=400, dimension=12, seed=0):
    """Rows with a mean that is far from zero, as embedding models have them, of many lengths."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, dimension)) + 1.5 * random.normal(size=dimension)
    return (rows * random.uniform(0.5, 2, size=(count, 1))).astype(np.float32)


def name(rows, start=0):
    return Embeddings([f"doc {start + row}" for row in range(len(rows))], rows)


def last(found, way):
    return [row for row in found.rows if row["way"] == way][-1]


def applied(x, adapter):
    """The five lines of the card."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    y = (x - adapter["mean_in"]) @ adapter["W"]
    return y / np.linalg.norm(y, axis=1, keepdims=True) * adapter["length"] + adapter["mean_out"]


@pytest.fixture(scope="module")
def different():
    """Two models that agree in part, of 12 and of 9 numbers; the new one knows 300 of 400 rows."""
    old = make_rows()
    noise = np.random.default_rng(5).normal(size=(300, 9))
    new = old[:300] @ np.random.default_rng(6).normal(size=(12, 9)) + 3 * noise + 1
    return name(old), name(new.astype(np.float32))


@pytest.fixture(scope="module")
def found(different):
    return migrate(*different)


@pytest.mark.parametrize("mappers", ["procrustes:normalize=unit", None])
def test_a_rotated_index_is_recovered_exactly(mappers):
    old = make_rows()
    new = 3 * old @ rotation(12)
    found = migrate(name(old), name(new[:300]), *([mappers] if mappers else []))
    for way in (INDEX, QUERIES):
        row = last(found, way)
        shares = [row["recall@10"], row["recall@10_low"], row["anew"]]
        assert shares == pytest.approx([1, 1, 1], abs=1e-4), way
    moved = applied(old, found.adapters[INDEX])
    assert np.allclose(unit(moved), unit(new), atol=1e-5)
    assert np.allclose(unit(applied(new, found.adapters[QUERIES])), unit(old), atol=1e-5)


def test_a_shift_costs_little():
    """unit(x + s) is no affine function of unit(x)."""
    old = make_rows()
    found = migrate(name(old), name(old @ rotation(12) + 0.2))
    assert last(found, INDEX)["recall@10"] > 0.8


@pytest.mark.parametrize("way", [INDEX, QUERIES])
@pytest.mark.parametrize("mapper", ["procrustes:normalize=unit", "regression", "geomm"])
def test_an_adapter_is_the_map_into_the_other_model(different, way, mapper):
    found = migrate(*different, mapper)
    source, target = ("old", "new") if way == INDEX else ("new", "old")
    paired = dict(zip(("old", "new"), (different[0].head(300), different[1]), strict=True))
    expected = found.mappers[way].map(paired, into=target)[source].vectors
    adapter = found.adapters[way]
    shapes = {key: array.shape for key, array in adapter.items()}
    sizes = (paired[source].dimension, paired[target].dimension)
    expected_shapes = {"W": sizes, "mean_in": sizes[:1], "mean_out": sizes[1:], "length": ()}
    assert shapes == expected_shapes
    assert np.allclose(applied(paired[source].vectors, adapter), expected, atol=1e-4)


def test_the_verdict_is_that_of_full_re_embedding():
    """Of rows and queries that no fit has seen, as many are found as the verdict says."""
    random = np.random.default_rng(3)
    old = random.normal(size=(6000, 24))
    new = old @ random.normal(size=(24, 16)) + 2.0 * random.normal(size=(6000, 16))
    found = migrate(name(old[:3000]), name(new[:1000]), RIDGE)
    queries, index = unit(new[3000:3400]), slice(3400, 6000)

    def nearest(rows, count):
        return np.argsort(-(queries @ unit(rows).T), axis=1)[:, :count]

    truth = nearest(new[index], 10)
    row = last(found, INDEX)
    for key, count in (("recall@10", 10), ("anew", 100)):
        moved = nearest(applied(old[index], found.adapters[INDEX]), count)
        actual = (truth[:, :, None] == moved[:, None]).any(axis=2).mean()
        assert abs(row[key] - actual) < 0.05, key
    assert row["recall@10_low"] < row["recall@10"] < row["recall@10_high"]


def test_rows_of_other_texts_are_found_by_chance_and_that_is_said():
    old, new = make_rows(1000), make_rows(1000, seed=9)
    found = migrate(name(old), name(new), RIDGE)
    for way in (KEPT, INDEX, QUERIES):
        assert abs(last(found, way)["recall@10"] - 10 / 1000) < 0.01
    assert sum("That is within chance" in note for note in found.notes()) == 3


def test_chance_is_not_mentioned_where_more_is_found(found):
    assert not any("chance" in note for note in found.notes())


def test_more_pairs_find_more_and_the_old_model_is_there_to_compare(found):
    assert [(row["way"], row["pairs"]) for row in found.rows] == [
        (KEPT, None), (INDEX, 60), (INDEX, 120), (INDEX, 240), (QUERIES, 60), (QUERIES, 120),
        (QUERIES, 240),
    ]  # fmt: skip
    few, _, many = (row["recall@10"] for row in found.rows if row["way"] == INDEX)
    assert few < many
    for row in found.rows:
        assert row["recall@10"] <= row["anew"]
    assert json.loads(found.to_json()) == found.rows


def test_thresholds_keep_their_order_and_their_share(different):
    thresholds = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
    found = migrate(*different, RIDGE, thresholds=thresholds)
    for row in found.rows:
        assert list(row["thresholds"]) == [f"{limit:g}" for limit in thresholds]
        values = list(row["thresholds"].values())
        assert values == sorted(values) and values[0] < values[-1]
    assert list(found.rows[0]["thresholds"].values()) == thresholds
    # Rows moved by a rotation have the cosines that they had.
    old = make_rows()
    same = migrate(name(old), name(old @ rotation(12)), thresholds=thresholds)
    assert list(last(same, INDEX)["thresholds"].values()) == pytest.approx(thresholds, abs=0.02)


def test_thresholds_that_are_given_twice_stand_once(different):
    found = migrate(*different, RIDGE, thresholds=[0.5, 0.5])
    assert list(found.rows[-1]["thresholds"]) == ["0.5"]


def test_rows_far_from_all_pairs_are_flagged():
    random = np.random.default_rng(0)
    center, elsewhere = np.eye(12)[0] * 5, np.eye(12)[5] * 5
    near, far = random.normal(size=(900, 12)) + center, random.normal(size=(20, 12)) + elsewhere
    old = name(np.concatenate([near, far]).astype(np.float32))
    new = name(old.vectors[:600] @ rotation(12))
    found = migrate(old, new, RIDGE)
    flagged = {int(word.split()[1]) for word in found.far}
    assert set(range(900, 920)) <= flagged
    assert flagged.isdisjoint(range(600))
    assert len(flagged) <= 20 + 3 * FAR * 300
    assert f"{len(flagged)} of 320 rows without a pair lie farther" in str(found)


def test_the_order_of_rows_does_not_matter(different, found):
    old, new = different
    order = np.random.default_rng(0).permutation(len(new))
    shuffled = Embeddings([new.words[row] for row in order], new.vectors[order])
    again = migrate(old, shuffled)
    assert again.rows == found.rows and again.far == found.far


def test_a_lambda_is_chosen_and_one_that_is_given_stays(different, found):
    chosen = {row["mapper"] for row in found.rows[1:]}
    assert len(chosen) <= 2 and not any("auto" in text for text in chosen)
    fixed = migrate(*different, get_mapper("regression", regularization=7.0))
    assert {row["mapper"] for row in fixed.rows[1:]} == {"regression:regularization=7.0"}


def test_a_folder_holds_mapper_adapters_and_card(different, found, tmp_path):
    folder = tmp_path / "adapter"
    found.save(folder)
    old = different[0].vectors
    with np.load(folder / "adapter.npz") as adapter:
        namespace = {"np": np, "x": old, "adapter": adapter}
        code = (folder / "README.md").read_text("utf-8").split("```python\n")[1].split("```")[0]
        exec("\n".join(line for line in code.splitlines() if "load" not in line), namespace)
        assert np.array_equal(namespace["y"], applied(old, found.adapters[INDEX]))
    with np.load(folder / "queries.npz") as queries:
        assert np.array_equal(queries["W"], found.adapters[QUERIES]["W"])
    mapper = load_mapper(folder)
    assert np.array_equal(mapper.W("old", "new"), found.mappers[INDEX].W("old", "new"))
    assert json.loads((folder / "far.json").read_text()) == list(found.far)
    assert all(note in (folder / "README.md").read_text("utf-8") for note in found.notes())


def test_another_adapter_takes_the_place_of_the_old_one_but_of_nothing_else(
    different, found, tmp_path
):
    folder = tmp_path / "adapter"
    found.save(folder)
    before = sorted(path.name for path in folder.iterdir())
    migrate(*different, "procrustes").save(folder)
    after = sorted(path.name for path in folder.iterdir())
    assert len(before) == len(after) == 6 and before != after
    card = (folder / "README.md").read_bytes()
    (folder / "README.md").write_bytes(card + b"mine")
    with pytest.raises(FileError, match=r"README\.md is not as geomm wrote it"):
        found.save(folder)
    (folder / "README.md").write_bytes(card)
    (folder / "mine.txt").write_text("x")
    with pytest.raises(FileError, match=r"holds mine\.txt, which would be lost"):
        found.save(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*after, "mine.txt"])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "queries.npz").write_text("mine")  # of a name that geomm writes, too
    with pytest.raises(FileError, match=r"queries\.npz is not as geomm wrote it"):
        found.save(tmp_path / "own")
    assert (tmp_path / "own" / "queries.npz").read_text() == "mine"


@pytest.mark.parametrize(
    ("old", "new", "mapper", "error", "message"),
    [
        (make_rows(), make_rows(99, 9), RIDGE, DictionaryError, "share 99 ids; a verdict needs"),
        (make_rows(), make_rows(), RIDGE, ParameterError, "are the same vectors"),
        (make_rows(), make_rows(300, 9), [], ParameterError, "no mapper to choose from"),
        (make_rows(), make_rows(300, 9), "regression:normalize=center", ParameterError,
         "Set its normalize"),
        (make_rows(), make_rows(300, 9), "metric_only", LanguagesError, "one dimension"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_a_sentence(old, new, mapper, error, message):
    with pytest.raises(error, match=message):
        migrate(name(old), name(new), mapper)


def test_rows_without_a_common_id_are_shown():
    with pytest.raises(DictionaryError, match=r"such as \['doc 0'\], .* such as \['doc 400'\]"):
        migrate(name(make_rows()), name(make_rows(), 400))


def test_a_number_that_is_not_finite_is_found_with_its_id(different):
    old, new = different
    broken = new.vectors.copy()
    broken[7, 0] = np.nan
    with pytest.raises(FormatError, match="'doc 7'"):
        migrate(old, Embeddings(new.words, broken))
    broken = old.vectors.copy()
    broken[350] = np.inf  # has no pair
    with pytest.raises(FormatError, match="'doc 350'"):
        migrate(Embeddings(old.words, broken), new, RIDGE)

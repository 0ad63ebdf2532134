"""Aligned fastText models: fastText itself opens them, and any word has its mapped vector."""

import random

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_adapters import FastTextBin, Word2VecBin, from_fasttext
from geomm_plugin import (
    Embeddings,
    SharedSpace,
    compare,
    get_mapper,
    read_embeddings,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.normalize import Normalizer, unit
from geomm_plugin.testing import check_format

fasttext = pytest.importorskip("fasttext")
STEMS = ["haus", "baum", "über", "naïve", "日本", "frei", "wald", "stein", "wasser", "licht"]
WORDS = [stem + ending for stem in STEMS for ending in ("", "es", "chen", "heit", "語")]
UNSEEN = ["unseenhaus", "baumeslicht", "日本語日", "</s>", "a"]
PAIRS = {("en", "es"): [(word, word) for word in WORDS]}


def train(path, seed, **parameters):
    generator = random.Random(seed)
    text = path.with_suffix(".txt")
    lines = (" ".join(generator.choice(WORDS) for _ in range(12)) for _ in range(200))
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = {
        "dim": 20,
        "minCount": 1,
        "epoch": 2,
        "thread": 10,
        "minn": 3,
        "maxn": 5,
    } | parameters
    model = fasttext.train_unsupervised(str(text), bucket=2000, verbose=0, **options | parameters)
    model.save_model(str(path))
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    train(folder / "en.bin", 1)
    train(folder / "es.bin", 2)
    (folder / "en-es.txt").write_text("".join(f"{w} {w}\n" for w in WORDS), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def models(folder):
    return {name: fasttext.load_model(str(folder / f"{name}.bin")) for name in ("en", "es")}


def align(folder, output, *options):
    line = ["align", f"en={folder / 'en.bin'}", f"es={folder / 'es.bin'}", "--mapper", "procrustes"]
    line += ["--dictionary", f"en-es={folder / 'en-es.txt'}", "--output", str(output), "--quiet"]
    return CliRunner().invoke(group, [*line, *options])


def test_the_packages_own_models_go_straight_in(models):
    mapper = get_mapper("procrustes").fit(models, PAIRS)
    space = mapper.map(models)
    for language, model in models.items():
        assert as_embeddings(model).words == model.get_words()
        for word in [WORDS[3], *UNSEEN[:3]]:
            mapped = mapper.transform(language, model.get_word_vector(word))
            assert np.allclose(space.vector(language, word), mapped, atol=1e-6)
    assert compare(["procrustes"], models, PAIRS, PAIRS).rows[0]["mapper"] == "procrustes"
    assert from_fasttext(models["en"]).attributes["count"].tolist() == [
        *models["en"].get_words(include_freq=True)[1]
    ]


@pytest.mark.parametrize("normalize", ["unit", "center", "unitdim,center,unit,centeremb"])
def test_an_aligned_model_maps_words_seen_or_unseen(tmp_path, folder, models, normalize):
    result = align(folder, tmp_path, "--set", f"normalize={normalize}", "--suffix", ".bin")
    assert result.exit_code == 0, result.output
    given = {name: read_embeddings(folder / f"{name}.bin") for name in models}
    steps = tuple(normalize.split(","))
    space = get_mapper("procrustes", normalize=steps).fit(given, PAIRS).map(given)
    for language in models:
        aligned = fasttext.load_model(str(tmp_path / f"{language}.bin"))
        ours = read_embeddings(tmp_path / f"{language}.bin")
        assert aligned.get_words() == models[language].get_words()
        for word in [*WORDS, *UNSEEN[:4]]:
            expected = unit(space.vector(language, word)[None])[0]
            assert np.allclose(unit(aligned.get_word_vector(word)[None])[0], expected, atol=2e-6)
            assert np.allclose(ours.vector(word), aligned.get_word_vector(word), atol=1e-6)
    # one argument holds all that an unseen word needs
    line = ["translate", str(tmp_path), "en-es", "unseenhaus", "--json"]
    told = CliRunner().invoke(group, [*line, "--quiet"])
    assert told.exit_code == 0, told.output
    best = space.translate("unseenhaus", "en", "es", k=1)[0][0]
    assert f'"translations": [{{"word": "{best}"' in told.stdout


def test_lengths_are_kept_where_they_can_be(tmp_path, folder):
    options = ("--suffix", ".bin", "--keep-length", "--set")
    assert align(folder, tmp_path / "a", *options, "normalize=center").exit_code == 0
    given = {name: read_embeddings(folder / f"{name}.bin") for name in ("en", "es")}
    space = get_mapper("procrustes", normalize=("center",)).fit(given, PAIRS).map(given)
    aligned = fasttext.load_model(str(tmp_path / "a" / "en.bin"))
    vector = space.vector("en", "unseenhaus")
    assert np.allclose(aligned.get_word_vector("unseenhaus"), vector, atol=1e-6)
    refused = align(folder, tmp_path / "b", *options, "normalize=unit")
    assert refused.exit_code == 2 and "leave --keep-length out" in refused.stderr


def test_what_is_not_exact_is_refused_with_what_to_do(tmp_path, folder, models):
    refused = align(folder, tmp_path / "a", "--suffix", ".bin")
    assert refused.exit_code == 2
    assert "procrustes normalizes by unit, center" in refused.stderr
    assert "the suffix .vec" in refused.stderr and "normalize=unit" in refused.stderr
    assert not (tmp_path / "a" / "en.bin").exists()
    assert align(folder, tmp_path / "b", "--suffix", ".word2vec.bin").exit_code == 0
    assert Word2VecBin.recognizes(tmp_path / "b" / "en.word2vec.bin")
    with pytest.raises(FormatError, match="save_model"):
        write_embeddings(models["en"], tmp_path / "x.bin")
    with pytest.raises(FormatError, match="written whole"):
        write_embeddings(read_embeddings(folder / "en.bin", max_words=3), tmp_path / "x.bin")


def test_a_mapped_dimension_may_be_another(tmp_path, folder):
    train(folder / "it.bin", 3, dim=10)
    given = {name: read_embeddings(folder / f"{name}.bin") for name in ("en", "it")}
    pairs = {("en", "it"): PAIRS["en", "es"]}
    space = get_mapper("cca", normalize=("center",)).fit(given, pairs).map(given)
    write_embeddings(space["it"], tmp_path / "it.bin")
    aligned = fasttext.load_model(str(tmp_path / "it.bin"))
    assert aligned.get_dimension() == space["it"].dimension
    vector = space.vector("it", "unseenhaus")
    assert np.allclose(aligned.get_word_vector("unseenhaus"), vector, atol=1e-5)


def test_gensim_opens_aligned_models(tmp_path, folder):
    gensim = pytest.importorskip("gensim.models.fasttext")
    given = {name: read_embeddings(folder / f"{name}.bin") for name in ("en", "es")}
    space = get_mapper("procrustes", normalize=()).fit(given, PAIRS).map(given)
    write_embeddings(space["en"], tmp_path / "en.bin")
    opened = gensim.load_facebook_vectors(str(tmp_path / "en.bin"))
    vector = space.vector("en", "unseenhaus")
    assert np.allclose(opened.get_vector("unseenhaus"), vector, atol=1e-6)


def test_a_whole_model_comes_back_and_a_classifier_is_refused(tmp_path, folder, models):
    write_embeddings(read_embeddings(folder / "en.bin"), tmp_path / "copy.bin")
    copy = fasttext.load_model(str(tmp_path / "copy.bin"))
    for word in [*WORDS, *UNSEEN]:
        assert np.array_equal(copy.get_word_vector(word), models["en"].get_word_vector(word))
    text = tmp_path / "labels.txt"
    text.write_text("__label__a haus baum\n__label__b wald stein\n" * 50, encoding="utf-8")
    classifier = fasttext.train_supervised(str(text), dim=20, thread=10, verbose=0)
    classifier.save_model(str(tmp_path / "labels.bin"))
    with pytest.raises(FormatError, match="a classifier is not mapped"):
        write_embeddings(read_embeddings(tmp_path / "labels.bin"), tmp_path / "x.bin")


def test_other_words_make_a_model_without_subwords(tmp_path):
    check_format(FastTextBin)
    embeddings = Embeddings(["dog", "zwei Worte"], [[1.0, 2.0], [3.0, 4.0]])
    write_embeddings(embeddings, tmp_path / "x.bin", format="fasttext_bin")
    model = fasttext.load_model(str(tmp_path / "x.bin"))
    assert model.get_words() == ["dog", "zwei Worte"]
    assert model.get_word_vector("zwei Worte").tolist() == [3.0, 4.0]
    write_embeddings(embeddings.head(1), tmp_path / "y.bin")  # the suffix says no more than that
    assert Word2VecBin.recognizes(tmp_path / "y.bin")
    with pytest.raises(FormatError, match=r"'a\\x00b'"):
        write_embeddings({"a\0b": [1.0]}, tmp_path / "z.bin", format="fasttext_bin")


def test_a_map_that_is_not_a_mappers_is_refused(tmp_path, folder):
    mapped = read_embeddings(folder / "en.bin").map(np.tanh)
    with pytest.raises(FormatError, match="not mapped by one linear mapper"):
        write_embeddings(mapped, tmp_path / "x.bin")


@pytest.mark.parametrize(
    ("steps", "is_affine"),
    [((), True), (("unit",), True), (("center", "unit", "unitdim"), True), (("centeremb",), True),
     (("unit", "center"), False), (("unit", "unitdim", "center"), False), (("iterative",), False)],
)  # fmt: skip
def test_directions_are_affine_and_those_of_transform(steps, is_affine):
    random_rows = np.random.default_rng(0).normal(size=(30, 4))
    normalizer = Normalizer(steps).fit({"en": random_rows})
    assert normalizer.has_affine_directions == is_affine
    if is_affine:
        directions = normalizer.directions("en", random_rows)
        assert np.allclose(unit(directions), unit(normalizer.transform("en", random_rows)))
        mean = normalizer.directions("en", random_rows[:3].mean(axis=0, keepdims=True))
        assert np.allclose(mean, directions[:3].mean(axis=0))


def test_a_space_can_be_read_again(tmp_path, folder):
    assert align(folder, tmp_path, "--suffix", ".bin", "--set", "normalize=unit").exit_code == 0
    paths = {name: read_embeddings(tmp_path / f"{name}.bin") for name in ("en", "es")}
    assert SharedSpace(paths).translate("unseenhaus", "en", "es", k=1)

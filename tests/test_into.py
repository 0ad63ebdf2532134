"""A language that stays as it is: the others are moved into its own coordinates."""

import pickle

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    Embeddings,
    align,
    evaluate,
    get_mapper,
    read_embeddings,
    read_space,
    write_embeddings,
)
from geomm_plugin.alignment import check
from geomm_plugin.cli import group
from geomm_plugin.errors import LanguagesError, ParameterError, UnknownNameError
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import make_toy

PAIR = ("en", "es")
MAPPERS = ["procrustes", "geomm", "regression", "msf", "cca", "gpa"]


@pytest.fixture
def toy():
    """Toy languages whose rows have lengths and a mean of their own."""
    toy = make_toy(("en", "es", "it"), words=200, pairs=150, noise=0.01)
    random = np.random.default_rng(3)
    for number, (language, embeddings) in enumerate(list(toy.embeddings.items())):
        scale = random.uniform(2, 4, (len(embeddings), 1)).astype(np.float32)
        vectors = (embeddings.vectors + np.float32(0.1 * number)) * scale
        toy.embeddings[language] = Embeddings(embeddings.words, vectors)
    return toy


@pytest.mark.parametrize("name", MAPPERS)
def test_the_target_is_the_object_that_was_given(name, toy):
    before = toy.embeddings["es"].vectors.copy()
    space = toy.fit(get_mapper(name)).map(toy.embeddings, into="es")
    assert space["es"] is toy.embeddings["es"]
    assert np.array_equal(space["es"].vectors, before)
    assert set(space) == {"en", "es", "it"} and len(space["en"]) == 200


@pytest.mark.parametrize("name", MAPPERS)
def test_translations_are_found_in_the_coordinates_of_the_target(name, toy):
    space = toy.fit(get_mapper(name)).map(toy.embeddings, into="es")
    pairs = [(f"en{n}", f"es{n}") for n in range(200)]
    assert evaluate(space, *PAIR, pairs).scores["p@1"] > 0.8
    lengths = [np.linalg.norm(space[name].vectors, axis=1).mean() for name in PAIR]
    assert 0.7 < lengths[0] / lengths[1] < 1.3


@pytest.mark.parametrize("retrieval", ["csls", "cosine"])
def test_a_rotation_of_unit_rows_translates_as_in_the_shared_space(retrieval):
    toy = make_toy(words=200, noise=0.5)
    mapper = toy.fit(get_mapper("procrustes", normalize=("unit",)))
    words = list(toy.embeddings["en"].words)
    answers = [
        space.translate(words, *PAIR, 3, retrieval)
        for space in (mapper.map(toy.embeddings), mapper.map(toy.embeddings, into="es"))
    ]
    assert [[w for w, _ in each] for each in answers[0]] == [
        [w for w, _ in each] for each in answers[1]
    ]
    scores = [[score for each in some for _, score in each] for some in answers]
    assert np.allclose(*scores, atol=1e-5)


def test_an_exact_rotation_leads_to_the_rows_of_the_target():
    toy = make_toy(words=200, noise=0, dtype="float64")
    mapper = toy.fit(get_mapper("procrustes", normalize=("unit",)))
    space = mapper.map(toy.embeddings, into="es")
    x, z = (space[language].vectors for language in PAIR)
    cosines = (x * z).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(z, axis=1)
    assert np.allclose(cosines, 1, atol=1e-9)


def test_languages_of_different_dimension():
    toy = make_toy(words=200, noise=0)
    toy.embeddings["en"] = Embeddings(
        toy.embeddings["en"].words, np.pad(toy.embeddings["en"].vectors, ((0, 0), (0, 3)))
    )
    space = toy.fit(get_mapper("geomm")).map(toy.embeddings, into="es")
    assert space["en"].dimension == space["es"].dimension == toy.embeddings["es"].dimension
    pairs = [(f"en{n}", f"es{n}") for n in range(200)]
    assert evaluate(space, *PAIR, pairs).scores["p@1"] > 0.9


def test_whitened_maps_translate_where_directions_differ_in_variance():
    """cca sees all directions alike; the target's rows, as they are, do not."""
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 12)) * np.geomspace(1, 0.02, 12)
    z = (x + 0.03 * random.normal(size=x.shape)) @ np.linalg.qr(random.normal(size=(12, 12)))[0]
    words = {language: [f"{language}{n}" for n in range(400)] for language in PAIR}
    embeddings = {name: Embeddings(words[name], v) for name, v in zip(PAIR, (x, z), strict=True)}
    pairs = list(zip(*words.values(), strict=True))
    mapper = get_mapper("cca", keep=1.0).fit(embeddings, {PAIR: pairs[:300]})
    space = mapper.map(embeddings, into="es")
    assert evaluate(space, *PAIR, pairs[300:]).scores["p@1"] > 0.95


def test_a_rotation_is_taken_as_it_is_whatever_words_are_moved(toy):
    mapper = toy.fit(get_mapper("procrustes"))
    few = {"en": toy.embeddings["en"].head(7), "es": toy.embeddings["es"]}
    some, whole = (mapper.map(given, into="es")["en"] for given in (few, toy.embeddings))
    (moved,), (of_all,) = some.rows.functions, whole.rows.functions
    assert np.array_equal(moved.matrix, of_all.matrix)
    assert np.allclose(moved.matrix / np.linalg.norm(moved.matrix, 2), mapper.W(*PAIR))


def test_few_words_are_moved_about_as_all_are(toy):
    mapper = toy.fit(get_mapper("cca"))
    few = {"en": toy.embeddings["en"].head(20), "es": toy.embeddings["es"]}
    some, whole = (mapper.map(given, into="es")["en"] for given in (few, toy.embeddings))
    x, z = some.vectors, whole.vectors[:20]
    cosines = (x * z).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(z, axis=1)
    assert cosines.min() > 0.95


def test_rows_are_moved_when_they_are_asked_for(toy):
    space = toy.fit(get_mapper("geomm")).map(toy.embeddings, into="es")
    assert space["en"].rows.raw.stored is toy.embeddings["en"].vectors
    assert np.allclose(space["en"].rows.take(slice(3, 5)), space["en"].vectors[3:5], rtol=1e-5)
    (moved,) = space["en"].rows.functions
    again = pickle.loads(pickle.dumps(moved))
    assert np.array_equal(again(toy.embeddings["en"].vectors), space["en"].vectors)
    assert set(again.normalizer.learnt) == set(PAIR)


def test_learnt_weights_of_the_other_space_are_left_out(toy):
    mapper = toy.fit(get_mapper("procrustes"))
    mapper.reranking_ = {PAIR: {"base": 1.0, "letters": 5.0}}
    assert mapper.map(toy.embeddings).reranking
    space = mapper.map(toy.embeddings, into="es")
    assert not space.reranking
    assert space.translate("en5", *PAIR, 1, "reranked")[0][0]  # by fixed weights


class Bent(Procrustes):
    """Linear but for its transform."""

    def transform(self, language, vectors):
        return np.tanh(super().transform(language, vectors))


def test_errors(toy):
    mapper = toy.fit(get_mapper("procrustes"))
    with pytest.raises(LanguagesError, match="'es', which are not among these: en. Give"):
        mapper.map({"en": toy.embeddings["en"]}, into="es")
    with pytest.raises(UnknownNameError, match="knows no language 'ess'. Did you mean 'es'"):
        mapper.map(toy.embeddings, into="ess")
    with pytest.raises(LanguagesError, match="es had 12 dimensions in fit; these have 2"):
        mapper.map({"en": toy.embeddings["en"], "es": (["a"], np.eye(1, 2))}, into="es")
    with pytest.raises(LanguagesError, match="en had 12 dimensions in fit; these have 2"):
        mapper.map({"es": toy.embeddings["es"], "en": (["a"], np.eye(1, 2))}, into="es")
    with pytest.raises(UnknownNameError, match="knows no language 'fr'"):
        mapper.map({**toy.embeddings, "fr": toy.embeddings["en"]}, into="es")
    with pytest.raises(ParameterError, match="centeremb.*cannot be reached"):
        toy.fit(get_mapper("procrustes", normalize=("centeremb",))).map(toy.embeddings, into="es")
    with pytest.raises(ParameterError, match="no linear map. Leave `into` out"):
        toy.fit(Bent()).map(toy.embeddings, into="es")


@pytest.fixture
def line(toy, tmp_path, monkeypatch):
    """Return the arguments of an align of three files."""
    monkeypatch.chdir(tmp_path)
    arguments = ["align"]
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
        arguments.append(f"{language}={language}.vec")
    for (source, target), pairs in toy.dictionaries.items():
        name = f"{source}-{target}.txt"
        (tmp_path / name).write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
        arguments += ["-d", f"{source}-{target}={name}"]
    return [*arguments, "--into", "es", "-m", "procrustes", "-o", "out"]


def run(*arguments, status=0):
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == status, (done.output, done.exception)
    return done.output


def test_align_writes_the_others_and_leaves_the_target(line, toy, tmp_path):
    before = (tmp_path / "es.vec").read_bytes()
    told = run(*line, "--jobs", "2")
    assert "es: stays as it is; the others are in its coordinates" in told
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README.md", "align.json", "en.vec", "it.vec", "mapper"]
    assert (tmp_path / "es.vec").read_bytes() == before
    space = toy.fit(get_mapper("procrustes")).map(toy.embeddings, into="es")
    written = read_embeddings("out/en.vec").vectors
    assert np.allclose(written, space["en"].vectors, rtol=1e-3, atol=1e-3)  # with its lengths
    assert not [finding for finding in check("out") if finding.problem]
    assert list(read_space("out")) == ["en", "it"]
    files = ["en=out/en.vec", "es=es.vec"]
    assert "es7" in run("translate", *files, "en-es", "en7")
    assert "p@1" in run("evaluate", *files, "-d", "en-es=en-es.txt", "--json")


def test_python_and_the_command_write_the_same(line, toy, tmp_path):
    run(*line)
    files = {language: f"{language}.vec" for language in toy.embeddings}
    dictionaries = {pair: f"{'-'.join(pair)}.txt" for pair in toy.dictionaries}
    made = align(files, dictionaries, "procrustes", output="python", into="es", jobs=2)
    assert (set(made.paths), made.into) == ({"en", "it"}, "es")
    for name in ("en.vec", "it.vec"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "python" / name).read_bytes()
    from_objects = align(toy.embeddings, toy.dictionaries, "procrustes", output="o", into="es")
    assert set(from_objects.paths) == {"en", "it"}


def test_resume_keeps_what_was_moved_into_the_same_language(line, tmp_path):
    run(*line)
    moved = (tmp_path / "out" / "en.vec").read_bytes()
    told = run(*line, "--resume")
    assert "Wrote" not in told and told.count("Kept") == 3
    (tmp_path / "out" / "en.vec").unlink()
    told = run(*line, "--resume")
    assert told.count("Wrote") == 1 and "Wrote out/en.vec" in told
    assert (tmp_path / "out" / "en.vec").read_bytes() == moved
    others = run(*line, "--into", "it", "--resume")
    assert "Kept out/mapper" in others and "Wrote out/en.vec" in others
    assert "out/it.vec: written by an earlier run" in others and "in another space" in others


def test_a_record_is_a_configuration_with_into(line, tmp_path):
    run(*line)
    told = run("align", "--config", "out/align.json", "--output", "again")
    assert "es: stays as it is" in told and not (tmp_path / "again" / "es.vec").exists()


@pytest.mark.parametrize(
    ("further", "told"),
    [
        (["--into", "ess"], "no language 'ess' to move the others into. Did you mean 'es'"),
        (["--rerank"], "with --into es no file is written there"),
        (["--neighborhoods"], "With --into es nothing is written beside the file of es"),
        (["--extra-words", "es=en-es.txt"], "it has no extra words"),
        (["--set", "normalize=unit,centeremb"], "Fit with a normalization without it"),
    ],
)
def test_what_does_not_go_with_into(line, further, told, tmp_path):
    assert told in run(*line, *further, status=2)
    assert not list((tmp_path / "out").glob("*.vec"))


@pytest.mark.parametrize("number", [np.float32(3e38), np.float64(1e300)])
def test_vectors_that_become_too_large_are_a_sentence(number):
    toy = make_toy(noise=0.01)
    for language, embeddings in list(toy.embeddings.items()):
        rows = embeddings.vectors / np.abs(embeddings.vectors).max(axis=1, keepdims=True)
        toy.embeddings[language] = Embeddings(embeddings.words, rows.astype(number.dtype) * number)
    mapper = toy.fit(get_mapper("procrustes"))
    with pytest.raises(LanguagesError, match="en are too large for float"):
        mapper.map(toy.embeddings, into="es")["en"].rows.all()

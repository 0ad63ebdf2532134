"""spaCy's pipelines and tables, against spaCy itself."""

import numpy as np
import pytest

from geomm_adapters import SpacyModel, to_spacy
from geomm_plugin import Embeddings, align, get_mapper, read_embeddings, write_embeddings
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError, UnknownNameError

spacy = pytest.importorskip("spacy")
from spacy.vectors import Vectors  # noqa: E402

WORDS = ["perro", "gato", "naïve", "日本"]


@pytest.fixture
def embeddings():
    vectors = np.random.default_rng(0).standard_normal((len(WORDS), 6)).astype(np.float32)
    return Embeddings(WORDS, vectors)


def test_spacy_finds_our_vectors_in_a_text(embeddings):
    pipeline = to_spacy(embeddings, spacy.blank("es"))
    document = pipeline("perro gato unbekannt")
    np.testing.assert_array_equal(document[0].vector, embeddings["perro"])
    np.testing.assert_array_equal(document[1].vector, embeddings["gato"])
    assert not document[2].has_vector
    assert pipeline.lang == "es"


@pytest.mark.parametrize(
    "part", [lambda nlp: nlp, lambda nlp: nlp.vocab, lambda nlp: nlp.vocab.vectors]
)
def test_there_and_back(embeddings, part):
    back = as_embeddings(part(to_spacy(embeddings)))
    assert back.words == WORDS
    np.testing.assert_array_equal(back.vectors, embeddings.vectors)


def test_what_spacy_itself_set_is_read(embeddings):
    pipeline = spacy.blank("es")
    for word in WORDS:
        pipeline.vocab.set_vector(word, embeddings[word])
    read = as_embeddings(pipeline)
    assert sorted(read.words) == sorted(WORDS)
    for word in WORDS:
        np.testing.assert_array_equal(read[word], embeddings[word])


def test_words_that_share_a_row_each_have_it(embeddings):
    pipeline = to_spacy(embeddings)
    pipeline.vocab.strings.add("can")
    pipeline.vocab.vectors.add("can", row=0)
    read = as_embeddings(pipeline)
    assert len(read) == len(WORDS) + 1
    np.testing.assert_array_equal(read["can"], embeddings["perro"])
    np.testing.assert_array_equal(read["日本"], embeddings["日本"])


def test_a_written_folder_is_a_pipeline_of_spacy(tmp_path, embeddings):
    write_embeddings(embeddings, tmp_path / "es-aligned", format=SpacyModel("es"))
    pipeline = spacy.load(tmp_path / "es-aligned")
    assert pipeline.lang == "es"
    np.testing.assert_array_equal(pipeline("gato")[0].vector, embeddings["gato"])
    read = read_embeddings(tmp_path / "es-aligned", max_words=2)
    assert read.words == WORDS[:2]
    np.testing.assert_array_equal(read.vectors, embeddings.vectors[:2])
    write_embeddings(embeddings.head(1), tmp_path / "es-aligned", format="spacy")
    assert read_embeddings(tmp_path / "es-aligned").words == WORDS[:1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["es-aligned"]


def test_a_folder_that_spacy_wrote_is_found_by_what_it_holds(tmp_path, embeddings):
    to_spacy(embeddings, spacy.blank("es")).to_disk(tmp_path / "model")
    assert read_embeddings(tmp_path / "model").words == WORDS
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="holds no embeddings that are known"):
        read_embeddings(tmp_path / "empty")
    with pytest.raises(FormatError, match="no folder of a spaCy pipeline"):
        read_embeddings(tmp_path / "empty", format="spacy")


def test_a_pipeline_without_vectors_says_so():
    with pytest.raises(FormatError, match="holds no vectors"):
        as_embeddings(spacy.blank("en"))


def test_floret_tables_have_vectors_for_unseen_words():
    pipeline = spacy.blank("en")
    for word in ("dog", "cat", "doghouse"):
        pipeline.vocab.strings.add(word)
    rows = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    pipeline.vocab.vectors = Vectors(
        strings=pipeline.vocab.strings, mode="floret", data=rows, minn=2, maxn=3, hash_count=2,
        hash_seed=0, bow="<", eow=">",
    )  # fmt: skip
    embeddings = as_embeddings(pipeline)
    assert {"dog", "cat", "doghouse"} <= set(embeddings.words)
    np.testing.assert_allclose(embeddings["dog"], pipeline("dog")[0].vector, rtol=1e-6)
    assert "cathouse" not in embeddings
    np.testing.assert_allclose(
        embeddings.vector("cathouse"), pipeline("cathouse")[0].vector, rtol=1e-6
    )


def test_a_pipeline_that_others_are_moved_into_stays_bit_for_bit(tmp_path, embeddings):
    pipeline = to_spacy(embeddings, spacy.blank("es"))
    pipeline.to_disk(tmp_path / "es")
    files = [path for path in (tmp_path / "es").rglob("*") if path.is_file()]
    before, held = {path: path.read_bytes() for path in files}, pipeline.vocab.vectors.to_bytes()
    turned = Embeddings([word.upper() for word in WORDS], embeddings.vectors[:, ::-1].copy())
    pairs = {("up", "es"): [(word.upper(), word) for word in WORDS]}
    made = align({"up": turned, "es": tmp_path / "es"}, pairs, output=tmp_path / "o", into="es")
    made.mapper.map({"up": turned, "es": pipeline}, into="es")["up"].vectors  # noqa: B018
    assert pipeline.vocab.vectors.to_bytes() == held
    assert {path: path.read_bytes() for path in files} == before
    assert {path for path in (tmp_path / "es").rglob("*") if path.is_file()} == set(files)


def test_a_mapper_takes_pipelines_and_its_answer_goes_back_into_one(embeddings):
    pipeline = to_spacy(embeddings)
    turned = Embeddings([word.upper() for word in WORDS], embeddings.vectors[:, ::-1].copy())
    pairs = [(word, word.upper()) for word in WORDS]
    languages = {"es": pipeline, "up": turned}
    space = get_mapper("procrustes").fit(languages, {("es", "up"): pairs}).map(languages)
    mapped = to_spacy(space["es"])
    np.testing.assert_allclose(mapped("gato")[0].vector, space["es"]["gato"], rtol=1e-6)
    with pytest.raises(UnknownNameError):
        space.vector("es", "unbekannt")

"""fastText models: our reader gives the vectors of fastText and of gensim, seen or unseen."""

import random

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_adapters.fasttext import model as fasttext_model
from geomm_adapters.fasttext.subword_hashes import ngram_hashes
from geomm_plugin import (
    Embeddings,
    align,
    get_mapper,
    load_mapper,
    read_embeddings,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import (
    FormatError,
    UnknownNameError,
)

fasttext = pytest.importorskip("fasttext")
UNSEEN = ["unseenword", "ünßeén", "日本語語", "a", "two words", "<", "naïvely", "\u00a0"]
WORDS = [f"{stem}{ending}" for stem in ("haus", "baum", "über", "naïve", "日本", "q")
         for ending in ("", "es", "chen", "語", "-x")]  # fmt: skip


def train(path, **parameters):
    """Train as fastText does, on a small text.

    fastText starts only a tenth of its numbers for each thread (the rest stays as memory was), and
    none of those beyond a multiple of ten: ten threads and an even dimension start all of them.
    """
    generator = random.Random(0)
    text = path.with_suffix(".txt")
    lines = (" ".join(generator.choice(WORDS) for _ in range(12)) for _ in range(300))
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = fasttext.train_unsupervised(
        str(text), model="skipgram", dim=20, minCount=1, epoch=2, thread=10, verbose=0, **parameters
    )
    model.save_model(str(path))
    return fasttext.load_model(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fasttext")


@pytest.fixture(scope="module")
def model(folder):
    return train(folder / "sub.bin", minn=3, maxn=5, bucket=2000)


@pytest.fixture(scope="module")
def wordwise(folder):
    return train(folder / "whole.bin", minn=0, maxn=0)


@pytest.mark.parametrize("held", [False, True])
def test_words_counts_and_vectors_are_fasttexts_own(folder, model, held):
    embeddings = as_embeddings(model) if held else read_embeddings(folder / "sub.bin")
    words, counts = model.get_words(include_freq=True)
    assert embeddings.words == words
    assert "</s>" in embeddings  # which has no subwords
    np.testing.assert_array_equal(embeddings.attributes["count"], counts)
    expected = np.stack([model.get_word_vector(word) for word in words])
    np.testing.assert_allclose(embeddings.vectors, expected, atol=1e-6)


@pytest.mark.parametrize("word", UNSEEN)
@pytest.mark.parametrize("held", [False, True])
def test_unseen_words_have_fasttexts_own_vector(folder, model, held, word):
    embeddings = as_embeddings(model) if held else read_embeddings(folder / "sub.bin")
    assert word not in embeddings
    if model.get_word_vector(word).any():
        np.testing.assert_allclose(embeddings.vector(word), model.get_word_vector(word), atol=1e-6)
    else:
        with pytest.raises(UnknownNameError, match="no known subword"):
            embeddings.vector(word)


def test_some_of_the_unseen_words_have_subwords_and_some_have_not(model):
    made = [model.get_word_vector(word).any() for word in [*UNSEEN, ""]]
    assert any(made) and not all(made)


def test_a_model_without_subwords_knows_its_words_only(folder, wordwise):
    embeddings = read_embeddings(folder / "whole.bin")
    expected = np.stack([wordwise.get_word_vector(word) for word in embeddings.words])
    np.testing.assert_array_equal(embeddings.vectors, expected)
    with pytest.raises(UnknownNameError, match="'unseenword'"):
        embeddings.vector("unseenword")


def test_words_beyond_max_words_keep_their_trained_vector(folder, model):
    embeddings = read_embeddings(folder / "sub.bin", max_words=3)
    assert embeddings.words == model.get_words()[:3]
    last = model.get_words()[-1]
    np.testing.assert_allclose(embeddings.vector(last), model.get_word_vector(last), atol=1e-6)


def test_a_model_that_others_are_moved_into_stays_bit_for_bit(folder, model, tmp_path):
    path = folder / "sub.bin"
    before, matrix = path.read_bytes(), model.get_input_matrix().copy()
    english = read_embeddings(path)
    other = Embeddings([word.upper() for word in english.words], english.vectors[:, ::-1].copy())
    pairs = {("up", "en"): list(zip(other.words, english.words, strict=True))}
    made = align({"up": other, "en": path}, pairs, "procrustes", output=tmp_path, into="en")
    space = made.mapper.map({"up": other, "en": model}, into="en")
    assert len(space["up"].vectors) == len(other) and sorted(made.paths) == ["up"]
    assert path.read_bytes() == before
    assert np.array_equal(model.get_input_matrix(), matrix)


@pytest.mark.parametrize("name", ["procrustes", "geomm", "regression"])
def test_unseen_words_go_through_subwords_then_the_mapper(folder, model, name):
    english = read_embeddings(folder / "sub.bin")
    other = Embeddings([word.upper() for word in english.words], english.vectors[:, ::-1].copy())
    pairs = list(zip(english.words, other.words, strict=True))
    mapper = get_mapper(name).fit({"en": english, "es": other}, {("en", "es"): pairs})
    space = mapper.map({"en": english, "es": other})
    own = model.get_word_vector("unseenword")
    expected = mapper.transform("en", own[None])[0]
    np.testing.assert_allclose(space.vector("en", "unseenword"), expected, rtol=1e-4, atol=1e-6)
    index = space.index("en", "es", "cosine")
    query = expected / np.linalg.norm(expected)
    best = index.search(query[None].astype(np.float32), 3)
    assert [w for w, _ in space.translate("unseenword", "en", "es", 3, "cosine")] == [
        other.words[row] for row in best.indices[0]
    ]
    with pytest.raises(UnknownNameError, match=r"a fastText \.bin"):
        space.translate("UNSEENWORD", "es", "en")


def test_chosen_unseen_words_are_exported_with_the_vocabulary(folder, model, tmp_path):
    english = read_embeddings(folder / "sub.bin", max_words=10)
    pairs = [(word, word) for word in english.words]
    mapper = get_mapper("procrustes").fit({"a": english, "b": english}, {("a", "b"): pairs})
    space = mapper.map({"a": english})
    grown = space["a"].with_words(["unseenword", english.words[0], "unseenword"])
    write_embeddings(grown, tmp_path / "a.vec")
    read = read_embeddings(tmp_path / "a.vec")
    assert read.words == [*english.words, "unseenword"]
    np.testing.assert_allclose(read["unseenword"], space.vector("a", "unseenword"), atol=1e-6)
    np.testing.assert_allclose(read.vectors[:10], space["a"].vectors, atol=1e-6)
    counts = english.with_words(["unseenword"]).attributes["count"]
    np.testing.assert_array_equal(counts, [*english.attributes["count"], 0])
    with pytest.raises(UnknownNameError):
        english.with_words([""])


def test_the_command_line_translates_and_exports_unseen_words(folder, model, tmp_path):
    path = folder / "sub.bin"
    (tmp_path / "pairs.txt").write_text(
        "".join(f"{word} {word}\n" for word in model.get_words()), encoding="utf-8"
    )
    (tmp_path / "extra.txt").write_text("unseenword\nüberhaus\n", encoding="utf-8")
    run = CliRunner().invoke
    files = [f"en={path}", f"de={path}"]
    aligned = run(
        group,
        ["align", *files, "-d", f"en-de={tmp_path / 'pairs.txt'}", "-m", "procrustes", "-q",
         "--extra-words", f"en={tmp_path / 'extra.txt'}", "-o", str(tmp_path / "out")],
    )  # fmt: skip
    assert aligned.exit_code == 0, aligned.output
    assert read_embeddings(tmp_path / "out/en.vec").words[-2:] == ["unseenword", "überhaus"]
    assert "unseenword" not in read_embeddings(tmp_path / "out/de.vec")
    found = run(
        group,
        ["translate", "--model", str(tmp_path / "out/mapper"), *files, "-q", "-k", "1", "en-de",
         "baumchens"],
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert found.output.split()[1] == "baumchen"


def test_a_saved_mapper_maps_unseen_words_alike(folder, tmp_path):
    english = read_embeddings(folder / "sub.bin")
    pairs = [(word, word) for word in english.words]
    mapper = get_mapper("procrustes").fit({"a": english, "b": english}, {("a", "b"): pairs})
    save_mapper(mapper, tmp_path / "mapper")
    spaces = [known.map({"a": english}) for known in (mapper, load_mapper(tmp_path / "mapper"))]
    np.testing.assert_array_equal(*(space.vector("a", "unseenword") for space in spaces))


def test_words_that_are_not_utf8_are_kept(folder, model, tmp_path):
    data = (folder / "sub.bin").read_bytes()
    old = "naïvees".encode()
    assert data.count(old + b"\0") == 1
    (tmp_path / "odd.bin").write_bytes(
        data.replace(old + b"\0", b"na\xefves!!"[: len(old)] + b"\0")
    )
    mapped = read_embeddings(tmp_path / "odd.bin")
    theirs = as_embeddings(fasttext.load_model(str(tmp_path / "odd.bin")))
    assert mapped.words == theirs.words
    assert any("\udcef" in word for word in mapped.words)
    np.testing.assert_allclose(mapped.vectors, theirs.vectors, atol=1e-6)


@pytest.mark.parametrize("share", [0.001, 0.003, 0.5, 0.7])
def test_a_file_that_is_cut_off_is_refused(folder, model, tmp_path, share):
    data = (folder / "sub.bin").read_bytes()
    path = tmp_path / "cut.bin"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(FormatError, match="cut off"):
        read_embeddings(path)


def test_damaged_files_are_read_or_refused_but_raise_nothing_else(folder, model, tmp_path):
    data = (folder / "sub.bin").read_bytes()
    random_places = random.Random(0)
    path = tmp_path / "damaged.bin"
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(random_places.randint(1, 4)):  # in the header and the dictionary
            damaged[random_places.randrange(4, 900)] = random_places.randrange(256)
        path.write_bytes(damaged)
        try:
            read_embeddings(path, max_words=5, format="fasttext_bin").vector("unseenword")
        except (FormatError, UnknownNameError):
            refused += 1
    assert 0 < refused < 300


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "text.bin").write_text("hello")
    with pytest.raises(FormatError, match="does not begin"):
        read_embeddings(tmp_path / "text.bin", format="fasttext_bin")


def test_classifiers_are_read_and_quantized_ones_refused(tmp_path):
    generator = random.Random(0)
    text = tmp_path / "text.txt"
    lines = (
        f"__label__{generator.randint(0, 3)} "
        + " ".join(generator.choice(WORDS) for _ in range(10))
        for _ in range(500)
    )
    text.write_text("\n".join(lines), encoding="utf-8")
    model = fasttext.train_supervised(
        str(text), dim=20, thread=10, verbose=0, minn=2, maxn=3, bucket=2000
    )
    model.save_model(str(tmp_path / "classifier.bin"))
    for read in (read_embeddings(tmp_path / "classifier.bin"), as_embeddings(model)):
        assert read.words == model.get_words()
        np.testing.assert_allclose(read.vector("baumx"), model.get_word_vector("baumx"), atol=1e-6)
    for how in ({}, {"cutoff": 400, "input": str(text), "retrain": False}):
        small = fasttext.load_model(str(tmp_path / "classifier.bin"))
        small.quantize(**how)
        small.save_model(str(tmp_path / "small.ftz"))
        with pytest.raises(FormatError, match=r"small\.ftz is a quantized model"):
            read_embeddings(tmp_path / "small.ftz")
        with pytest.raises(FormatError, match="This is a quantized model"):
            as_embeddings(small)


@pytest.mark.parametrize(
    "name", ["crime-and-punishment.bin", "lee_fasttext_new.bin", "toy-model.bin"]
)
def test_gensims_sample_models_are_read_as_fasttext_and_gensim_do(name):
    path = pytest.importorskip("gensim.test.utils").datapath(name)
    from gensim.models.fasttext import load_facebook_vectors

    read = read_embeddings(path)
    own, gensims = as_embeddings(fasttext.load_model(path)), load_facebook_vectors(path)
    assert read.words == own.words == gensims.index_to_key
    np.testing.assert_allclose(read.vectors, own.vectors, atol=1e-6)
    known = [row for row, word in enumerate(read.words) if word != "</s>"]
    # gensim adds n-grams to </s>, which in fastText has none
    np.testing.assert_allclose(read.vectors[known], gensims.vectors[known], atol=1e-6)
    np.testing.assert_allclose(read.vector("unseenword"), gensims["unseenword"], atol=1e-6)


def test_hashes_are_those_of_the_formula():
    def one_by_one(word, shortest, longest):
        characters = ["<", *word, ">"]
        for begin in range(len(characters)):
            for length in range(shortest, longest + 1):
                gram = characters[begin : begin + length]
                if len(gram) < length or gram in (["<"], [">"]):
                    continue
                value = 2166136261
                for byte in "".join(gram).encode():
                    signed = byte - 256 if byte > 127 else byte
                    value = ((value ^ (signed & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF
                yield value

    words = ["", "a", "naïve", "日本語", "𝄞𝄞", "x" * 40]
    for shortest, longest in [(1, 1), (1, 4), (3, 6), (5, 5), (1, 0)]:
        found = list(ngram_hashes([word.encode() for word in words], shortest, longest))
        owners, hashes = (np.concatenate([part[i] for part in found] or [[]]) for i in (0, 1))
        for index, word in enumerate(words):
            expected = sorted(one_by_one(word, shortest, longest))
            assert sorted(hashes[owners == index].tolist()) == expected


def test_words_in_batches_of_any_size_have_the_same_vectors(folder, model, monkeypatch):
    whole = read_embeddings(folder / "sub.bin")
    monkeypatch.setattr(fasttext_model, "_BYTES_AT_ONCE", 12)
    np.testing.assert_array_equal(read_embeddings(folder / "sub.bin").vectors, whole.vectors)
    long = "naïve日本" * 40
    np.testing.assert_allclose(whole.vector(long), model.get_word_vector(long), atol=1e-6)

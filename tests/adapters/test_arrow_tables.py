"""Parquet and Arrow tables: what others open, what others write, and what is refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_adapters import ArrowFile, ParquetFile
from geomm_plugin import Embeddings, read_embeddings, read_space, write_embeddings, write_space
from geomm_plugin.arrays import BLOCK_ROWS
from geomm_plugin.cli import group
from geomm_plugin.errors import FormatError, LanguagesError, UnknownNameError
from geomm_plugin.formats import format_by

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

SUFFIXES = [".parquet", ".arrow", ".feather"]
WORDS = {"en": ["dog", "cat", "cow"], "es": ["perro", "gato"], "日本": ["犬"]}


def vectors(count, dimension=3, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


@pytest.fixture
def space():
    return {name: Embeddings(words, vectors(len(words))) for name, words in WORDS.items()}


def save(path, table, size=2):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=size)
    else:
        feather.write_feather(table, path, compression="lz4", chunksize=size)
    return path


def same(read, expected):
    assert list(read.words) == list(expected.words)
    assert read.vectors.dtype == expected.vectors.dtype
    assert np.array_equal(read.vectors, expected.vectors)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_space_in_one_file(tmp_path, space, suffix):
    path = tmp_path / f"space{suffix}"
    write_space(space, path)
    read = read_space(path)
    assert list(read) == list(space)
    for language, embeddings in space.items():
        same(read[language], embeddings)
        same(read_embeddings(path, language=language), embeddings)
        same(read_embeddings(path, language=language, max_words=1), embeddings.head(1))
    assert list(read_space(path, ["es"])) == ["es"]
    with pytest.raises(FormatError, match=r"holds 3 languages: en, es, 日本\. Say which"):
        read_embeddings(path)
    with pytest.raises(UnknownNameError, match="no language 'fr'"):
        read_embeddings(path, language="fr")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_one_language_just_reads(tmp_path, space, suffix):
    path = tmp_path / f"en{suffix}"
    write_embeddings(space["en"], path)
    same(read_embeddings(path, language="whatever"), space["en"])
    with pytest.raises(LanguagesError, match="does not name the languages"):
        read_space(path)
    write_space({"en": space["en"]}, path)
    same(read_embeddings(path), space["en"])
    same(read_embeddings(path, language="english"), space["en"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_many_parts_are_read_in_the_order_of_their_ranks(tmp_path, suffix):
    count = 2 * BLOCK_ROWS + 5
    embeddings = Embeddings([f"w{row}" for row in range(count)], vectors(count))
    path = tmp_path / f"x{suffix}"
    write_space({"en": embeddings, "es": embeddings.head(7)}, path)
    same(read_embeddings(path, language="en"), embeddings)
    same(
        read_embeddings(path, language="en", max_words=BLOCK_ROWS + 1),
        embeddings.head(BLOCK_ROWS + 1),
    )
    shuffled = np.random.default_rng(1).permutation(count)
    table = pa.table(
        {
            "rank": shuffled * 10 + 3,  # whatever the numbers are, the lowest comes first
            "vector": list(embeddings.vectors[shuffled]),
            "word": [embeddings.words[row] for row in shuffled],
        }
    )
    other = save(tmp_path / f"y{suffix}", table, 3000)
    same(read_embeddings(other), embeddings)
    same(read_embeddings(other, max_words=9), embeddings.head(9))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("form", ["list", "large", "fixed"])
def test_tables_of_others(tmp_path, suffix, kind, form):
    numbers = vectors(3, 4).astype(kind.to_pandas_dtype())
    lists = {"list": pa.list_(kind), "large": pa.large_list(kind), "fixed": pa.list_(kind, 4)}
    table = pa.table(
        {
            "language": pa.array(["en", "es", "en"]).dictionary_encode(),
            "score": [1, 2, 3],
            "word": pa.array(["dog", "perro", "cat"], pa.large_string()).dictionary_encode(),
            "vector": pa.array(list(numbers), lists[form]),
        }
    )
    read = read_embeddings(save(tmp_path / f"x{suffix}", table), language="en")
    same(read, Embeddings(["dog", "cat"], numbers[[0, 2]]))


def test_words_as_polars_writes_them(tmp_path, space):
    words = pa.array(WORDS["en"], pa.string_view())
    table = pa.table({"word": words, "vector": list(space["en"].vectors)})
    with ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    for count in (None, 2):
        same(read_embeddings(tmp_path / "x.arrow", max_words=count), space["en"].head(count or 3))


def test_a_stream_as_datasets_keep_it(tmp_path, space):
    table = pa.table({"word": WORDS["en"], "vector": list(space["en"].vectors)})
    with ipc.new_stream(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    same(read_embeddings(tmp_path / "x.arrow"), space["en"])


LISTS = pa.list_(pa.float32())
FLOATS = [[1.0, 2.0], [3.0, 4.0]]
ODD = {
    "no words": ({"vector": FLOATS}, "has the columns vector"),
    "a null word": ({"word": ["a", None], "vector": FLOATS}, "rows without a value"),
    "a null vector": ({"word": ["a", "b"], "vector": [[1.0], None]}, "rows without a value"),
    "a null number": ({"word": ["a", "b"], "vector": [[1.0], [None]]}, "number that is missing"),
    "lengths": ({"word": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}, "'b' has 2 numbers, that"),
    "no numbers": ({"word": ["a", "b"], "vector": [["1"], ["2"]]}, "vectors are list"),
    "no lists": ({"word": ["a", "b"], "vector": [1.0, 2.0]}, "vectors are double, not lists"),
    "empty lists": ({"word": ["a", "b"], "vector": pa.array([[], []], LISTS)}, "0 numbers"),
    "no texts": ({"word": [1, 2], "vector": FLOATS}, "words are int64, not texts"),
    "bytes": ({"word": [b"a", b"b"], "vector": FLOATS}, "words are binary, not texts"),
    "ranks": ({"word": ["a", "b"], "vector": FLOATS, "rank": [0.5, 1.0]}, "ranks are double"),
    "a null rank": ({"word": ["a", "b"], "vector": FLOATS, "rank": [None, 1]}, "without a value"),
    "a null language": (
        {"word": ["a", "b"], "vector": FLOATS, "language": [None, "en"]}, "without a value"
    ),
    "languages": ({"word": ["a", "b"], "vector": FLOATS, "language": [1, 2]}, "not texts"),
    "no rows": ({"word": pa.array([], pa.string()), "vector": pa.array([], LISTS)}, "no words"),
}  # fmt: skip


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_tables_are_refused_with_a_sentence(tmp_path, suffix, odd):
    columns, told = ODD[odd]
    path = save(tmp_path / f"x{suffix}", pa.table(columns))
    with pytest.raises(FormatError, match=told):
        read_embeddings(path, language="en")


def test_lengths_that_differ_between_row_groups(tmp_path):
    table = pa.table({"word": list("abcd"), "vector": [[1.0], [1.0], [1.0, 2.0], [1.0, 2.0]]})
    with pytest.raises(FormatError, match="some vectors have 1 numbers, others 2"):
        read_embeddings(save(tmp_path / "x.parquet", table))


def test_a_language_that_other_formats_cannot_hold(tmp_path, space):
    with pytest.raises(FormatError, match=r"holds one language.*\.parquet"):
        write_space(space, tmp_path / "x.vec")
    with pytest.raises(FormatError, match=r"'\\udce9'"):
        write_embeddings({"\udce9": [1.0]}, tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())
    assert ParquetFile("en").language == ArrowFile().of_language("en").language == "en"


def test_the_command_line(tmp_path, space):
    run = CliRunner().invoke
    for language in ("en", "es"):
        write_embeddings(space[language], tmp_path / f"{language}.vec")
    files = [f"{language}={tmp_path / language}.vec" for language in ("en", "es")]
    target = tmp_path / "space.parquet"
    assert run(group, ["convert", *files, str(target), "--quiet"]).exit_code == 0
    same(read_embeddings(target, language="es"), space["es"])
    (tmp_path / "en-es.txt").write_text("dog perro\ncat gato\n")
    test = f"en-es={tmp_path / 'en-es.txt'}"
    rest = ["-t", test, "--json", "-r", "cosine"]
    scores = [
        json.loads(run(group, ["evaluate", *given, *rest]).stdout)[0]["mrr"]
        for given in (files, [str(target)], [f"en={target}", f"es={target}"])
    ]
    assert scores[0] == scores[1] == scores[2]
    told = run(group, ["translate", str(target), "en-es", "dog"])
    assert told.exit_code == 0 and "perro" in told.stdout
    refused = run(group, ["convert", *files, str(tmp_path / "x.vec")])
    assert refused.exit_code == 2 and "holds one language" in refused.stderr


def test_data_frames_and_databases_open_it(tmp_path, space):
    path = tmp_path / "space.parquet"
    write_space(space, path)
    rows = [(lang, word) for lang, words in WORDS.items() for word in words]
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(path)
    assert list(zip(frame["language"], frame["word"], strict=True)) == rows
    assert np.array_equal(np.stack(frame["vector"][:3]), space["en"].vectors)
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "back.parquet")
    same(read_embeddings(tmp_path / "back.parquet", language="en"), space["en"])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.uint8()])
def test_rows_are_read_by_a_column_of_somebody_else(tmp_path, suffix, kind):
    """Their `language` and `rank` may mean anything, and their vectors have any name."""
    numbers = vectors(3)
    ids = pa.array([7, 5, 6]).cast(kind)
    columns = {"id": ids, "language": ["en", "de", "en"], "rank": [2.5, 1.5, 0.5]}
    table = pa.table(columns | {"embedding": list(numbers)})
    path = save(tmp_path / f"x{suffix}", table)
    same(read_embeddings(path, format=format_by(path, "id")), Embeddings(["7", "5", "6"], numbers))
    both = save(tmp_path / f"y{suffix}", table.append_column("vector", pa.array(list(-numbers))))
    read = read_embeddings(both, format=format_by(both, "id"), max_words=2, language="any")
    same(read, Embeddings(["7", "5"], -numbers[:2]))


def test_a_column_that_is_not_there_is_named(tmp_path):
    table = pa.table({"id": ["a"], "one": [[1.0]], "other": [[2.0]]})
    path = save(tmp_path / "x.parquet", table)
    with pytest.raises(FormatError, match="columns id, one, other; .* one column 'key'"):
        read_embeddings(path, format=format_by(path, "key"))
    with pytest.raises(FormatError, match="columns id, one, other; .* one 'vector'"):
        read_embeddings(path, format=format_by(path, "id"))


def test_words_of_a_file_without_columns_are_its_own(tmp_path):
    embeddings = Embeddings(["a", "b"], vectors(2))
    write_embeddings(embeddings, tmp_path / "x.vec")
    chosen = format_by(tmp_path / "x.vec", "id")
    same(read_embeddings(tmp_path / "x.vec", format=chosen), embeddings)

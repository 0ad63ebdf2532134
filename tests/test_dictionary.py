import gzip
import hashlib
import json
import os
import pickle
import threading

import numpy as np
import pytest

from geomm_plugin import Embeddings, identical_words, read_dictionary, split, write_dictionary
from geomm_plugin.dictionary import (
    as_dictionaries,
    as_dictionary,
    check_pair,
    folds,
    pair_languages,
    pair_up,
    shuffled,
)
from geomm_plugin.errors import (
    DictionaryError,
    FileError,
    FormatError,
    LanguagesError,
    ParameterError,
)


def write(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        (b"dog perro\ncat gato\n", [("dog", "perro"), ("cat", "gato")]),
        (b"dog\tperro\r\ncat\tgato", [("dog", "perro"), ("cat", "gato")]),
        (b"New York\tNueva York\n", [("New York", "Nueva York")]),
        (b"# almohadilla\n", [("#", "almohadilla")]),
        (b"\n\ndog  perro \n\n", [("dog", "perro")]),
        (b"\xef\xbb\xbfdog perro\n", [("dog", "perro")]),
        ("a\u00a0b c\u2028d\n".encode(), [("a\u00a0b", "c\u2028d")]),
        (b"dog\tperro\t0.5\ncat\tgato\t-1e-3\r\n", [("dog", "perro"), ("cat", "gato")]),
    ],
)
def test_reads_spaces_tabs_and_odd_words(tmp_path, content, pairs):
    assert read_dictionary(write(tmp_path / "d.txt", content)) == pairs


def test_reads_gzip(tmp_path):
    path = write(tmp_path / "d.txt.gz", gzip.compress(b"dog perro\n"))
    assert read_dictionary(path) == [("dog", "perro")]


@pytest.mark.parametrize(
    "line",
    [
        *(b"perro", b"cat el gato", b"a\tb\tc", b"a\tb\tnan", b"a\tb\tinf"),
        *(b"a b 0.5", b"a\tb\t0.5\t1"),
    ],
)
def test_a_line_of_one_or_three_columns_is_an_error_with_its_number(tmp_path, line):
    path = write(tmp_path / "d.txt", b"dog perro\n\n" + line + b"\n")
    with pytest.raises(DictionaryError, match=r"d\.txt, line 3: expected two columns"):
        read_dictionary(path)


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(FileError, match="There is no file"):
        read_dictionary(tmp_path / "none.txt")
    with pytest.raises(DictionaryError, match="is empty"):
        read_dictionary(write(tmp_path / "d.txt", b"\n\n"))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have(name):
    with pytest.raises(FileError, match="is no name of a file"):
        read_dictionary(name)


@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_long_dictionary_is_read_from_a_pipe(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)
    lines = b"".join(b"source%d target%d\n" % (n, n) for n in range(60_000))
    content = gzip.compress(lines) if name.endswith(".gz") else lines
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    assert len(read_dictionary(path)) == 60_000
    writer.join()


def test_identical_words_are_those_of_both_in_the_order_of_the_first():
    en = Embeddings(["the", "radio", "x", "no"], np.eye(4))
    es = Embeddings(["no", "el", "radio"], np.eye(3))
    assert identical_words(en, es) == [("radio", "radio"), ("no", "no")]


def test_whatever_holds_words_and_vectors_is_paired_up():
    en, es = {"radio": [1.0, 2.0], "dog": [3.0, 4.0]}, (["perro", "radio"], np.eye(2))
    assert identical_words(en, es) == [("radio", "radio")]
    found = pair_up([("dog", "perro")], en, es)
    assert (found.source.tolist(), found.target.tolist()) == ([1], [0])


def test_rows_of_an_array_are_pairs():
    table = np.array([["cat", "g"], ["dog", "p"], ["cow", "v"]])
    languages = {
        "en": Embeddings(["cat", "dog"], np.eye(2)),
        "es": Embeddings(["g", "p"], np.eye(2)),
    }
    found = pair_languages(languages, {("en", "es"): table})["en", "es"]
    assert found.source.tolist() == [0, 1]
    assert found.missing_source == ("cow",) and type(found.missing_source[0]) is str
    assert len(split(table, 0.4)[0]) == 2


@pytest.mark.parametrize("pair", ["ab", ("a", "b", "c"), ("a", 3), ["a"], 7, b"ab", None])
def test_what_is_no_pair_of_words(pair):
    embeddings = Embeddings(["a", "b"], np.eye(2))
    with pytest.raises(DictionaryError, match=r"holds pairs \(word, translation\)"):
        check_pair(pair)
    with pytest.raises(DictionaryError, match="holds pairs"):
        pair_up([pair], embeddings, embeddings)
    with pytest.raises(DictionaryError, match="holds pairs"):
        split([pair])


def test_one_door_for_all_that_holds_pairs(tmp_path):
    pairs = [("ab", "cd"), ("ef", "gh")]
    path = write(tmp_path / "d.txt", b"ab cd\nef gh\n")
    for source in (pairs, iter(pairs), dict(pairs), np.array(pairs), path, str(path)):
        assert as_dictionary(source) == pairs
    assert as_dictionary({"ab": ["cd", "x"], "ef": ("gh",)}) == [
        ("ab", "cd"),
        ("ab", "x"),
        pairs[1],
    ]
    checked = as_dictionary(pairs)
    assert as_dictionary(checked) is checked and checked.files == ()
    for odd in (7, None, {"ab": 7}, {7: "ab"}, {"ab": [7]}, {"ab": b"cd"}):
        with pytest.raises(DictionaryError, match="holds pairs"):
            as_dictionary(odd)
    with pytest.raises(DictionaryError, match="by pair of languages"):
        as_dictionaries(pairs)


def test_a_dictionary_knows_its_files_and_is_a_list(tmp_path):
    path = write(tmp_path / "d.txt", b"dog perro\ncat gato\n")
    dictionary = read_dictionary(path)
    (file,) = dictionary.files
    assert (file.path, file.size, file.content) == (str(path), 19, "2 pairs")
    assert file.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert json.loads(json.dumps(dictionary)) == [["dog", "perro"], ["cat", "gato"]]
    again = pickle.loads(pickle.dumps(dictionary))
    assert again == dictionary and again.files == dictionary.files
    both = dictionary.with_pairs(dictionary.reverse_pairs())
    assert both[2:] == [("perro", "dog"), ("gato", "cat")] and both.files == (file, file)
    assert split(dictionary, 0.5)[0].files == (file,)
    path.write_text("changed since")
    assert file.sha256() is None


def test_a_pipe_is_read_once_and_has_no_size(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"dog perro\n",), daemon=True)
    writer.start()
    (file,) = read_dictionary(path).files
    writer.join()
    assert (file.size, file.content, file.sha256()) == (None, "1 pairs", None)


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_lines_that_are_not_utf8_are_counted_and_too_many_refused(tmp_path, share):
    pairs = [(f"word{n}", "año" if n < share * 200 else f"palabra{n}") for n in range(200)]
    path = write(tmp_path / "d.txt", "".join(f"{a} {b}\n" for a, b in pairs).encode("latin-1"))
    problem = (
        rf"{share * 200:.0f} of 200 lines are not UTF-8.*'word0 a\\udcf1o'.*'word0 año'.*iconv"
    )
    if share > 0.03:
        with pytest.raises(DictionaryError, match=problem):
            read_dictionary(path)
    else:
        with pytest.warns(UserWarning, match=problem):
            assert read_dictionary(path)[2:] == pairs[2:]
    assert read_dictionary(path, encoding="latin-1") == pairs
    with pytest.raises(ParameterError, match="no encoding 'latin-x'"):
        read_dictionary(path, encoding="latin-x")
    with pytest.raises(FormatError, match="not in the encoding 'utf-8'"):
        read_dictionary(path, encoding="utf-8")


CSV = {
    "commas": 'dog,perro\n"New York","Nueva York"\n',
    "semicolons": "dog;perro\r\nNew York;Nueva York\r\n",
    "tabs": "dog\tperro\nNew York\tNueva York\n",
    "a header": 'Source, Target\n\ndog, perro\n"New York", "Nueva York"\n',
    "languages": "en;es\ndog;perro\nNew York;Nueva York\n",
    "scores": "word,translation,score\ndog,perro,0.5\nNew York,Nueva York,1\n",
    "a byte order mark": "\ufeffdog,perro\nNew York,Nueva York\n",
}


@pytest.mark.parametrize("content", CSV.values(), ids=CSV)
def test_csv(tmp_path, content):
    pairs = [("dog", "perro"), ("New York", "Nueva York")]
    assert read_dictionary(write(tmp_path / "en-es.csv", content.encode())) == pairs
    path = write(tmp_path / "en-es.train.CSV.gz", gzip.compress(content.encode()))
    assert read_dictionary(path) == pairs


def test_quotes_keep_what_separates(tmp_path):
    path = write(tmp_path / "d.csv", b'"Washington, D.C.",Washington\n"say ""hi""","di ""hola"""\n')
    assert read_dictionary(path) == [
        ("Washington, D.C.", "Washington"), ('say "hi"', 'di "hola"')
    ]  # fmt: skip
    with pytest.raises(DictionaryError, match="line 1: expected two columns"):
        read_dictionary(write(path, b"dog,perro,can\n"))
    with pytest.raises(DictionaryError, match=r"Name the file \.csv if commas"):
        read_dictionary(write(tmp_path / "d.txt", b"dog,perro\n"))
    with pytest.raises(DictionaryError, match="line 2: .*Fix its quotes"):
        read_dictionary(write(path, b'dog,perro\n"cat,gato\n'))


def test_what_was_written_is_read_again(tmp_path):
    path = tmp_path / "new" / "d.tsv"
    pairs = [("New York", "Nueva York"), ("#", "almohadilla"), ("ÿ", "x")]
    assert write_dictionary(pairs, path) == 3
    assert read_dictionary(path) == pairs
    scored = [(*pair, 0.25) for pair in pairs]
    assert write_dictionary(scored, path) == 3
    assert read_dictionary(path) == pairs and path.read_bytes().endswith(b"x\t0.2500\n")


def test_pairs_that_no_line_gives_back_are_told(tmp_path):
    path = tmp_path / "d.tsv"
    odd = [("a\tb", "c"), ("a\n", "c"), ("a", " "), ("\ud800", "c"), ("a", "b\r"), ("", "b")]
    with pytest.warns(UserWarning, match="6 pairs are left out of .*d.tsv.*'a.*b'"):
        assert write_dictionary([*odd, ("dog", "perro")], path) == 1
    assert read_dictionary(path) == [("dog", "perro")]
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(DictionaryError, match="No pair is left"),
    ):
        write_dictionary(odd, path)
    assert read_dictionary(path) == [("dog", "perro")]


def test_folds_hold_each_word_once_and_do_not_depend_on_the_order_of_words():
    words = [f"w{n}" for n in range(23)]
    parts = folds(words, 5, seed=3)
    assert sorted(word for part in parts for word in part) == sorted(words)
    assert {len(part) for part in parts} == {4, 5}
    assert folds(words[::-1] + words, 5, seed=3) == parts != folds(words, 5, seed=4)
    assert shuffled(words, 3)[:10] == shuffled(set(words), 3)[:10] != sorted(words)[:10]


def test_split_by_source_word_with_a_seed():
    pairs = [(f"s{n // 3}", f"t{n}") for n in range(300)]
    train, held_out = split(pairs, held_out=0.2, seed=4)
    assert sorted(train + held_out) == sorted(pairs)
    assert not {s for s, _ in train} & {s for s, _ in held_out}
    assert len({s for s, _ in held_out}) == 20
    assert split(pairs[::-1], 0.2, seed=4)[1] == held_out[::-1]
    assert split(pairs, 0.2, seed=5)[1] != held_out
    with pytest.raises(DictionaryError, match="between 0 and 1"):
        split(pairs, held_out=1.5)


def test_pair_up_finds_rows_once_and_tells_what_is_missing_on_each_side():
    en = Embeddings(["cat", "dog"], np.eye(2))
    es = Embeddings(["perro", "gato", "can"], np.eye(3))
    pairs = [("dog", "perro"), ("dog", "can"), ("dog", "perro"), ("cow", "vaca"), ("cat", "oso")]
    found = pair_up(pairs, en, es)
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [(1, 0), (1, 2)]
    assert found.missing_source == ("cow",)
    assert found.missing_target == ("vaca", "oso")
    back = found.reverse()
    assert back.source.tolist() == [0, 2] and back.missing_target == ("cow",)


def test_dictionaries_of_both_directions_are_joined():
    languages = {
        "en": Embeddings(["cat", "dog"], np.eye(2)),
        "es": Embeddings(["g", "p"], np.eye(2)),
    }
    pairs = pair_languages(languages, {("es", "en"): [("g", "cat")], ("en", "es"): [("dog", "p")]})
    assert list(pairs) == [("en", "es")]
    assert pairs["en", "es"].source.tolist() == [0, 1]
    alone = pair_languages(languages, {("es", "en"): [("g", "cat")]})
    assert list(alone) == [("es", "en")]


@pytest.mark.parametrize(
    ("dictionaries", "error", "message"),
    [
        ({("en", "xx"): [("a", "b")]}, LanguagesError, "names the language 'xx'"),
        ({"en-es": [("a", "b")]}, LanguagesError, "belongs to a pair of languages"),
        ({("en", "en"): [("a", "b")]}, LanguagesError, "two different languages"),
        ({("en", "es"): [("Cat", "G")]}, DictionaryError, r"None of the 1 pairs is in both.*'Cat'"),
        ({("en", "es"): ["cat"]}, DictionaryError, "holds pairs"),
    ],
)
def test_errors_of_a_fit(dictionaries, error, message):
    languages = {"en": Embeddings(["cat"], np.eye(1)), "es": Embeddings(["g"], np.eye(1))}
    with pytest.raises(error, match=message):
        pair_languages(languages, dictionaries)


def test_swapped_columns_are_told():
    words = {"en": [f"en{n}" for n in range(20)], "es": [f"es{n}" for n in range(20)]}
    shared = [("no", "no")]
    embeddings = {lang: Embeddings([*own, "no"], np.ones((21, 2))) for lang, own in words.items()}
    right = [*zip(words["en"], words["es"], strict=True), *shared]
    told = "21 pairs of the dictionary es-en, 1 are .* the other way round, 21 are"
    with pytest.raises(DictionaryError, match=f"{told}.* give it as the dictionary en-es"):
        pair_languages(embeddings, {("es", "en"): right})
    pair_languages(embeddings, {("en", "es"): right})


def test_columns_that_may_be_swapped_are_a_warning():
    embeddings = {lang: Embeddings(["no", "si", *lang], np.ones((4, 2))) for lang in ("en", "es")}
    pairs = [("no", "si"), ("si", "no"), ("s", "n"), *(("x", f"y{n}") for n in range(5))]
    with pytest.warns(UserWarning, match="en-es, 2 are .* the other way round, 3 are"):
        pair_languages(embeddings, {("en", "es"): pairs})


@pytest.mark.parametrize(
    "line",
    ["dog\t\t0.93", "\tperro", "dog\t \tperro", "dog\tperro\t\t0.93", "\t\t0.5", "dog\t\tperro"],
)
def test_an_empty_column_is_an_error_with_its_line(tmp_path, line):
    path = tmp_path / "pairs.txt"
    path.write_text(f"cat\tgato\n{line}\n", encoding="utf-8")
    with pytest.raises(DictionaryError, match=r"line 2: .*one of them empty"):
        read_dictionary(path)


@pytest.mark.parametrize("score", ["1_0", "\u0661", "nan", "inf", "1e999", "0x1", "--1"])
def test_what_is_no_plain_number_is_no_score(tmp_path, score):
    path = tmp_path / "pairs.txt"
    path.write_text(f"dog\tperro\t{score}\n", encoding="utf-8")
    with pytest.raises(DictionaryError, match=r"line 1: .* found 3\."):
        read_dictionary(path)


@pytest.mark.parametrize("line", ["dog\tperro\t", "dog\tperro\t0.93\t", "dog\tperro\t-1.5e-3"])
def test_empty_columns_at_the_end_say_nothing(tmp_path, line):
    path = tmp_path / "pairs.txt"
    path.write_text(f"{line}\n", encoding="utf-8")
    assert list(read_dictionary(path)) == [("dog", "perro")]

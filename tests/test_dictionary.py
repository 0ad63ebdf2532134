import gzip

import numpy as np
import pytest

from geomm_plugin import Embeddings, identical_words, pair_up, read_dictionary, split
from geomm_plugin.dictionary import pair_languages
from geomm_plugin.errors import DictionaryError, FileError, LanguagesError


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
        (b"\xff\xfe perro\n", [("\udcff\udcfe", "perro")]),
    ],
)
def test_reads_spaces_tabs_and_odd_words(tmp_path, content, pairs):
    assert read_dictionary(write(tmp_path / "d.txt", content)) == pairs


def test_reads_gzip(tmp_path):
    path = write(tmp_path / "d.txt.gz", gzip.compress(b"dog perro\n"))
    assert read_dictionary(path) == [("dog", "perro")]


@pytest.mark.parametrize("line", [b"perro", b"cat el gato", b"a\tb\tc"])
def test_a_line_of_one_or_three_columns_is_an_error_with_its_number(tmp_path, line):
    path = write(tmp_path / "d.txt", b"dog perro\n\n" + line + b"\n")
    with pytest.raises(DictionaryError, match=r"d\.txt, line 3: expected two columns"):
        read_dictionary(path)


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(FileError, match="There is no file"):
        read_dictionary(tmp_path / "none.txt")
    with pytest.raises(DictionaryError, match="is empty"):
        read_dictionary(write(tmp_path / "d.txt", b"\n\n"))


def test_identical_words_are_those_of_both_in_the_order_of_the_first():
    en = Embeddings(["the", "radio", "x", "no"], np.eye(4))
    es = Embeddings(["no", "el", "radio"], np.eye(3))
    assert identical_words(en, es) == [("radio", "radio"), ("no", "no")]


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

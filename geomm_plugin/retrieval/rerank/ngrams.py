"""Plain spellings, and the character n-grams of two vocabularies as sparse unit rows.

A plain spelling is in lower case, without accents, in Latin letters where a script can be
transliterated: Cyrillic and Greek by a table of our own, other alphabets by anyascii if it is there
(the extra `letters`). Chinese characters stay as they are: they have no spelling to compare.

A word w is `<w>` in plain letters; its n-grams of 2 to 4 letters, each weighted by

    (1 + log count in the word) log(words of both languages / (1 + words that hold it))

and scaled to length 1. g(x, z), the product of two rows, is the cosine of the two spellings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices, Vector, slices

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґўђјљњћџѓќѕ",
        "a b v g d e j z i i k l m n o p r s t u f h c ch sh sh . i . e iu ia"
        " i i e g u dj j lj nj c dz g k dz".split(),
        strict=True,
    )
)
GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split(),
        strict=True,
    )
)
LATIN_OF = {letter: latin.strip(".") for letter, latin in (CYRILLIC | GREEK).items()}
IDEOGRAPHS = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))  # Chinese characters
SIZES = (2, 3, 4)
MAX_LETTERS = 50_000  # four of so many fit into 64 bits; rarer ones are not told apart
PAIRS_AT_A_TIME = 65_536
WORDS_AT_A_TIME = 16_384  # whose n-grams are counted: 20 MB
CELLS_AT_A_TIME = 4_000_000  # of a table of queries and targets: 16 MB


def plain_spellings(words: Iterable[str]) -> list[str]:
    """Return each word in plain letters; what a letter's neighbors make of it is not told apart."""
    lowered = [word.lower() for word in words]
    letters = set().union(*lowered) if lowered else set()
    transliterate = _transliterator()
    others = (letter for letter in letters if not letter.isascii())
    table = str.maketrans({letter: _plain_letter(letter, transliterate) for letter in others})
    return [word if word.isascii() else word.translate(table) for word in lowered]


def _plain_letter(letter: str, transliterate: Callable[[str], str]) -> str:
    base = [c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)]
    if all(c.isascii() or c in LATIN_OF or _is_ideograph(c) for c in base):
        return "".join(LATIN_OF.get(c, c) for c in base)
    return transliterate(letter)


def _is_ideograph(letter: str) -> bool:
    return any(first <= ord(letter) <= last for first, last in IDEOGRAPHS)


def _transliterator() -> Callable[[str], str]:
    """Return anyascii, or, where it is not installed, what leaves letters as they are."""
    try:
        from anyascii import anyascii
    except ImportError:
        return str
    return lambda letter: anyascii(letter).lower() or letter


@dataclass(frozen=True, eq=False)
class Ngrams:
    """The n-gram rows of a source and a target vocabulary, over the same n-grams."""

    codes: npt.NDArray[np.int64]  # of the n-grams, in order
    idf: Vector
    alphabet: npt.NDArray[np.uint32]
    target: csr_array

    @classmethod
    def of(cls, source_words: Sequence[str], target_words: Sequence[str]) -> Ngrams:
        """Learn n-grams and their weights from two vocabularies."""
        texts = [_Text.of(words) for words in (source_words, target_words)]
        alphabet = _alphabet(texts)
        codes, documents = _documents([part for text in texts for part in text.parts()], alphabet)
        words = len(source_words) + len(target_words)
        idf = np.log(words / (1 + documents)).clip(0).astype(np.float32)
        return cls(codes, idf, alphabet, _all_rows(texts[1], codes, idf, alphabet))

    def rows(self, words: Sequence[str]) -> csr_array:
        """Return the rows of any words; n-grams that no vocabulary holds count for nothing."""
        return _all_rows(_Text.of(words), self.codes, self.idf, self.alphabet)

    def pairs(self, words: Sequence[str], targets: RowIndices) -> Matrix:
        """Return g of each word and each of its targets (a row of them; below 0 is none)."""
        own = self.rows(words)
        cosines = np.zeros(targets.size, np.float32)
        flat = targets.ravel()
        words_of = np.repeat(np.arange(len(targets)), targets.shape[1])
        wanted = np.flatnonzero(flat >= 0)
        for part in slices(len(wanted), PAIRS_AT_A_TIME):
            some = wanted[part]
            products = own[words_of[some]].multiply(self.target[flat[some]])
            cosines[some] = products.sum(axis=1)
        return cosines.reshape(targets.shape).clip(0, 1)

    def alike(
        self, words: Sequence[str], least: float, count: int
    ) -> tuple[RowIndices, RowIndices, Vector]:
        """Return the targets spelt most like each word: (word, target, g), `count` at most.

        Only those whose g is at least `least`; products are made a few words at a time.
        """
        own, transposed = self.rows(words), self.target.T.tocsr()
        size = max(1, CELLS_AT_A_TIME // max(1, self.target.shape[0]))
        parts = [
            _most_alike(own[part] @ transposed, part.start, least, count)
            for part in slices(len(words), size)
        ]
        rows, columns, cosines = zip(*parts, strict=True) if parts else ([], [], [])
        return (
            np.concatenate([np.empty(0, np.intp), *rows]),
            np.concatenate([np.empty(0, np.intp), *columns]),
            np.concatenate([np.empty(0, np.float32), *cosines]),
        )


def _most_alike(
    product: csr_array, first: int, least: float, count: int
) -> tuple[RowIndices, RowIndices, Vector]:
    wanted = np.flatnonzero(product.data >= least)
    row = np.searchsorted(product.indptr, wanted, "right") - 1
    column, cosine = product.indices[wanted].astype(np.intp), product.data[wanted]
    order = np.lexsort((column, -cosine, row))
    row, column, cosine = row[order], column[order], cosine[order]
    starts = np.searchsorted(row, row)
    chosen = np.arange(len(row)) - starts < count
    return row[chosen] + first, column[chosen], cosine[chosen].clip(0, 1)


@dataclass(frozen=True, eq=False)
class _Text:
    """Words one after the other as letters, and how many letters each has."""

    letters: npt.NDArray[np.uint32]
    lengths: RowIndices

    @classmethod
    def of(cls, words: Sequence[str]) -> _Text:
        spellings = [f"<{spelling}>" for spelling in plain_spellings(words)]
        lengths = np.fromiter(map(len, spellings), np.intp, len(spellings))
        text = "".join(spellings).encode("utf-32-le", "surrogatepass")
        return cls(np.frombuffer(text, np.uint32), lengths)

    def parts(self) -> list[_Text]:
        """Return some words at a time."""
        ends = np.append(0, np.cumsum(self.lengths))
        return [
            _Text(self.letters[ends[part.start] : ends[part.stop]], self.lengths[part])
            for part in slices(len(self.lengths), WORDS_AT_A_TIME)
        ]

    def ngrams(self, alphabet: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], RowIndices]:
        """Return every n-gram as a number, and the word that holds it."""
        numbers = np.searchsorted(alphabet, self.letters).astype(np.int64)
        if len(alphabet):
            known = alphabet[np.minimum(numbers, len(alphabet) - 1)] == self.letters
            numbers = np.where(known, numbers, len(alphabet))
        numbers = np.minimum(numbers, MAX_LETTERS) + 1
        word = np.repeat(np.arange(len(self.lengths)), self.lengths)
        codes, words = [], []
        code = numbers
        for size in range(2, max(SIZES) + 1):
            code = code[:-1] * (MAX_LETTERS + 2) + numbers[size - 1 :]
            whole = word[: len(code)] == word[size - 1 :]  # begins and ends in one word
            codes.append(code[whole])
            words.append(word[: len(code)][whole])
        return np.concatenate(codes), np.concatenate(words)


def _alphabet(texts: Sequence[_Text]) -> npt.NDArray[np.uint32]:
    is_used = np.zeros(0x110000, bool)
    for text in texts:
        is_used[text.letters] = True
    return np.flatnonzero(is_used).astype(np.uint32)


def _documents(
    parts: Sequence[_Text], alphabet: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.int64], RowIndices]:
    """Return all n-grams in order, and how many words hold each; a part's at a time in memory."""
    found, held = [np.empty(0, np.int64)], [np.empty(0, np.intp)]
    for part in parts:
        codes, rows = part.ngrams(alphabet)
        own, numbers = np.unique(codes, return_inverse=True)
        counts = _counts(numbers, rows, len(part.lengths), len(own))
        found.append(own)
        held.append(np.bincount(counts.indices, minlength=len(own)))
    codes, places = np.unique(np.concatenate(found), return_inverse=True)
    documents = np.zeros(len(codes), np.intp)
    np.add.at(documents, places, np.concatenate(held))
    return codes, documents


def _all_rows(
    text: _Text, codes: npt.NDArray[np.int64], idf: Vector, alphabet: npt.NDArray[np.uint32]
) -> csr_array:
    """Return the rows of all words of a text, over the n-grams that are known."""
    from scipy.sparse import vstack

    none = np.empty(0, np.intp)
    tables = [_counts(none, none, 0, len(codes))]
    for part in text.parts():
        own, rows = part.ngrams(alphabet)
        numbers = np.searchsorted(codes, own).clip(max=max(len(codes) - 1, 0))
        is_known = codes[numbers] == own if len(codes) else np.zeros(len(own), bool)
        counts = _counts(numbers[is_known], rows[is_known], len(part.lengths), len(codes))
        tables.append(_unit_rows(counts, idf))
    table: csr_array = vstack(tables, format="csr")
    return table


def _counts(ngrams: RowIndices, rows: RowIndices, words: int, count: int) -> csr_array:
    """Return how often each word holds each n-gram."""
    from scipy.sparse import csr_array

    places = rows.astype(np.int32), ngrams.astype(np.int32)  # half the memory of 64 bits
    table: csr_array = csr_array((np.ones(len(ngrams), np.float32), places), (words, count))
    table.sum_duplicates()
    return table


def _unit_rows(counts: csr_array, idf: Vector) -> csr_array:
    """Return rows of weighted n-grams at length 1; a word without any is a zero row."""
    weights = ((1 + np.log(counts.data)) * idf[counts.indices]).astype(np.float64)
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, weights**2, minlength=counts.shape[0]))
    counts.data = (weights / np.where(lengths > 0, lengths, 1)[row]).astype(np.float32)
    return counts

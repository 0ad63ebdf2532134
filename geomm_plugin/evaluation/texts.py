"""[evaluate] Texts as vectors: IDF-weighted means of the unit vectors of their words.

A word is a run of letters, in lower case. With N texts, of which n_w hold the word w,

    idf(w) = log((1 + N) / n_w),     v(text) = sum over its words of idf(w) x_w,   at length 1,

where x_w is the word's unit vector in the shared space. Words outside the vocabulary are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geomm_plugin.arrays import Mask, Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.normalize import unit
from geomm_plugin.shared_space import SharedSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class LabelledTexts:
    """Texts, each with one label."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.texts):
            raise FormatError(
                f"Each text has one label; there are {len(self.texts)} texts and "
                f"{len(self.labels)} labels."
            )

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"<LabelledTexts: {len(self)} texts, {len(set(self.labels))} labels>"


def read_texts(path: str | Path) -> list[str]:
    """Read one text a line; empty lines stay, so that the lines of two files stay aligned."""
    return list(read_lines(Path(path)))


def read_labelled_texts(path: str | Path) -> LabelledTexts:
    """Read label<TAB>text, one a line; empty lines are skipped."""
    labels, texts = [], []
    for number, line in enumerate(read_lines(Path(path)), start=1):
        if not line.strip():
            continue
        label, tab, text = line.partition("\t")
        if not tab or not label.strip():
            raise FormatError(
                f"{path}, line {number}: expected a label, a tab and a text, found "
                f"{line[:60]!r}. Separate the label from its text by one tab."
            )
        labels.append(label.strip())
        texts.append(text)
    return LabelledTexts(tuple(labels), tuple(texts))


def split_words(text: str) -> list[str]:
    """Return the runs of letters of a text, in lower case."""
    return _word_pattern().findall(text.lower())


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of a letter, followed by letters and the marks that belong to them."""
    marks = (c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
    return re.compile(rf"[^\W\d_](?:[^\W\d_]|[{re.escape(''.join(marks))}])*")


def text_vectors(space: SharedSpace, language: str, texts: Sequence[str]) -> Matrix:
    """Return one unit row for each text; a text without a known word of any weight is zero."""
    counts = word_counts(texts, space[language])
    used = np.unique(counts.indices).astype(np.intp)  # no other word need be mapped
    weighted: Any = counts * idf(counts)
    return unit(weighted.tocsr()[:, used] @ space.unit_rows(language).rows(used))


def word_counts(texts: Iterable[str], embeddings: Embeddings) -> csr_array[Any, Any]:
    """Return how often each text (row) holds each word of the vocabulary (column)."""
    from scipy.sparse import csr_array

    words = [split_words(text) for text in texts]
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    rows = np.repeat(np.arange(len(words)), lengths)
    found = map(embeddings.row_of.get, chain.from_iterable(words), repeat(-1))
    columns = np.fromiter(found, np.intp, int(lengths.sum()))
    known = columns >= 0
    ones = np.ones(np.count_nonzero(known), np.float32)
    shape = (len(words), len(embeddings))
    counts = csr_array((ones, (rows[known], columns[known])), shape=shape)
    counts.sum_duplicates()
    return counts


def idf(counts: csr_array[Any, Any]) -> Matrix:
    """Return the weight of each word of the vocabulary; 0 for words that no text holds."""
    texts, words = counts.shape
    holding = np.bincount(counts.indices, minlength=words)
    weights = np.log((1 + texts) / np.maximum(holding, 1)) * (holding > 0)
    return np.asarray(weights, np.float32)


def has_words(vectors: Matrix) -> Mask:
    """Mark the texts that have a vector."""
    return np.asarray(vectors.any(axis=1))

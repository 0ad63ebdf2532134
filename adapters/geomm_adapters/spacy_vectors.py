"""spaCy's vectors <-> Embeddings: pipelines, vocabularies and tables; spaCy is imported on use.

A floret table makes a vector for any word from its subwords, and so do its Embeddings.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geomm_adapters.fasttext.subword_hashes import LONGEST_NGRAM
from geomm_adapters.npy_vectors import mapped_array
from geomm_plugin.arrays import Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, missing_extra
from geomm_plugin.files.stamps import files_in
from geomm_plugin.formats import Format, finite_rows

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.vectors import Vectors


def from_spacy(source: Any) -> Embeddings:
    """Take words and vectors from a pipeline, a vocabulary or a table, in the order of its rows.

    Words that share a row (a pruned table) each get that row; rows without a word are left out. A
    floret table has no words of its own: they are taken from the vocabulary.
    """
    vocabulary = getattr(source, "vocab", source)
    table = getattr(vocabulary, "vectors", vocabulary)
    strings = getattr(vocabulary, "strings", None) or table.strings
    if table.mode == "floret":
        if table.maxn > LONGEST_NGRAM or not 1 <= table.hash_count <= 4:
            raise FormatError(
                f"This {type(source).__name__} of spaCy has n-grams of up to {table.maxn} "
                f"characters and {table.hash_count} hashes of each; floret has 1 to 4."
            )
        return _from_floret(table, list(strings))
    keys = sorted(table.key2row.items(), key=lambda item: item[1])
    named = [(strings[key], row) for key, row in keys if key in strings]
    if not named:
        raise FormatError(
            f"This {type(source).__name__} of spaCy holds no vectors. Load a pipeline that does, "
            "such as one whose name ends in _md or _lg."
        )
    rows = np.array([row for _, row in named])
    if rows.min() < 0 or rows.max() >= len(table.data):
        raise FormatError(
            f"This {type(source).__name__} of spaCy has words in rows {rows.min()} to "
            f"{rows.max()}, but {len(table.data)} rows. Load it again."
        )
    is_one_to_one = len(rows) == len(table.data) and bool((rows == np.arange(len(rows))).all())
    data = _on_cpu(table.data)
    return Embeddings([word for word, _ in named], data if is_one_to_one else data[rows])


def to_spacy(
    embeddings: Embeddings, pipeline: Language | None = None, name: str = "geomm_plugin"
) -> Language:
    """Put words and vectors into a pipeline as its vectors table, and return it.

    Parameters
    ----------
    pipeline
        The pipeline whose table is replaced; by default a new, empty one for many languages ("xx").
    """
    try:
        import spacy
        from spacy.vectors import Vectors
    except ImportError:
        raise missing_extra("to_spacy", "spacy") from None
    pipeline = spacy.blank("xx") if pipeline is None else pipeline
    words = list(embeddings.row_of)
    rows = np.fromiter(embeddings.row_of.values(), np.intp, len(words))
    for word in words:
        try:
            pipeline.vocab.strings.add(word)
        except UnicodeEncodeError as error:
            raise FormatError(
                f"spaCy cannot hold the word {word!r}, which is not UTF-8. Leave it out."
            ) from error
    table: Vectors = Vectors(
        strings=pipeline.vocab.strings,
        data=finite_rows(words, embeddings.rows.take(rows)),
        keys=words,
        name=name,
    )
    pipeline.vocab.vectors = table
    return pipeline


class SpacyModel(Format):
    """A folder that `nlp.to_disk` wrote, or that `spacy.load` can load.

    Parameters
    ----------
    language
        The code of the language whose tokenizer a written pipeline has.
    """

    name: ClassVar[str] = "spacy"
    suffixes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, language: str = "xx"):
        self.language = language

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look for the table of vectors."""
        return (path / "vocab" / "vectors").is_file()

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the vocabulary and its vectors; the rest of the pipeline is not loaded."""
        try:
            from spacy.vocab import Vocab
        except ImportError:
            raise missing_extra(f"{path}, a pipeline of spaCy,", "spacy") from None
        if not self.recognizes(path):
            raise FormatError(f"{path} is no folder of a spaCy pipeline with vectors.")
        # Checks the size of the file: spaCy reserves whatever memory its header claims.
        mapped_array(path / "vocab" / "vectors")
        try:
            embeddings = from_spacy(Vocab().from_disk(path / "vocab"))
        except OSError:
            raise
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error
        except Exception as error:  # spaCy, msgpack and their parsers: anything may be raised
            raise FormatError(
                f"{path}: spaCy cannot read its vocabulary and vectors "
                f"({type(error).__name__}: {error}). Fetch the folder again."
            ) from error
        return embeddings if max_words is None else embeddings.head(max_words)

    def files(self, path: Path) -> list[Path]:
        """Return the files of the vocabulary, vectors among them."""
        return files_in(path / "vocab")

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a pipeline that has nothing but a tokenizer and these vectors."""
        try:
            import spacy
        except ImportError:
            raise missing_extra("Writing a pipeline of spaCy", "spacy") from None
        to_spacy(embeddings, spacy.blank(self.language)).to_disk(path)


def _from_floret(table: Any, words: Iterable[str]) -> Embeddings:
    words = [word for word in words if word and not word.isspace()]

    def subwords(word: str) -> Vector | None:
        vector: Vector = _on_cpu(table.get_batch([word]))[0]
        return vector if vector.any() else None

    return Embeddings(words, _on_cpu(table.get_batch(words)), subwords=subwords)


def _on_cpu(data: Any) -> Any:
    return data.get() if hasattr(data, "get") else data  # cupy arrays are on the GPU

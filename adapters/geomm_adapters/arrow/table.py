"""Tables of Arrow: `language, word, rank, vector` in `.parquet` or `.arrow` files, by pyarrow.

    language   text      the language of the word; a file of one language may leave it out
    word       text
    rank       int64     0, 1, 2, ... in its language, the most frequent word first; may be missing
    vector     float32   a list of as many numbers in each row

Files of others are read if they have `word` and `vector`. A file is gone through twice, part by
part (row groups, record batches): first languages and ranks, then the words that are wanted. So
memory holds one part and what is returned.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_adapters.arrow.columns import (
    arrow_errors,
    import_pyarrow,
    indices,
    is_equal,
    matrix_of,
    texts,
    whole_numbers,
)
from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, UnknownNameError
from geomm_plugin.files import disk
from geomm_plugin.formats import Format, check_utf8, finite_blocks

WORD, VECTOR, LANGUAGE, RANK = "word", "vector", "language", "rank"


class ArrowTable(Format):
    """Words and vectors as a table, of one language or of several."""

    def __init__(self, language: str | None = None):
        self.language = language

    def of_language(self, language: str) -> Format:
        """Read and write the rows of one language."""
        return type(self)(language)

    @abstractmethod
    def parts(
        self, path: Path, columns: list[str], wanted: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[Any]:
        """Yield the record batches or row groups of a file; of those not wanted, None."""

    @abstractmethod
    def schema(self, path: Path) -> Any:
        """Return the names and types of the columns."""

    @abstractmethod
    def writer(self, stream: Any, schema: Any) -> Any:
        """Return what writes record batches."""

    def languages(self, path: Path) -> list[str]:
        """Return the languages of a file, in the order in which they begin."""
        with arrow_errors(path):
            if LANGUAGE not in self._columns(path):
                return []
            columns = (part.column(LANGUAGE) for part in self.parts(path, [LANGUAGE]))
            return [*dict.fromkeys(n for column in columns for n in texts(path, column.unique()))]

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the words of a language in the order of their ranks, or of the file."""
        with arrow_errors(path):
            rows, part_of = self._rows(path, max_words)
            order = np.argsort(rows, kind="stable")  # the order of the file
            needed = np.bincount(part_of[order], minlength=int(part_of.max(initial=-1)) + 1) > 0
            words = [""] * len(rows)
            vectors: Matrix | None = None
            begin = 0
            for part in self.parts(path, [WORD, VECTOR], needed):
                end = begin + (part if isinstance(part, int) else part.num_rows)
                first, last = np.searchsorted(rows[order], [begin, end])
                places = order[first:last]
                if len(places):
                    chosen = part.take(indices(rows[places] - begin))
                    texts_here = texts(path, chosen.column(WORD))
                    block = matrix_of(path, chosen.column(VECTOR), texts_here)
                    if vectors is None:
                        vectors = np.empty((len(rows), block.shape[1]), block.dtype)
                    _check_dimension(path, vectors, block)
                    vectors[places] = block
                    for place, word in zip(places.tolist(), texts_here, strict=True):
                        words[place] = word
                begin = end
            if vectors is None:
                raise FormatError(f"{path} holds no words. Write it again.")
            return Embeddings(words, vectors)

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write one language, under its name if that is known."""
        self.write_languages(path, {self.language or "": embeddings})

    def write_languages(self, path: Path, languages: Mapping[str, Embeddings]) -> None:
        """Write block by block, as the vectors are made: one language after the other."""
        pyarrow = import_pyarrow(f"Writing {path.suffix} files")
        (dimension,) = {embeddings.dimension for embeddings in languages.values()}
        name_type = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        fields = {LANGUAGE: name_type} if any(languages) else {}
        fields |= {WORD: pyarrow.string(), RANK: pyarrow.int64()}
        schema = pyarrow.schema(fields | {VECTOR: pyarrow.list_(pyarrow.float32(), dimension)})
        names = pyarrow.array(list(languages), pyarrow.string())
        total = sum(map(len, languages.values()))
        with (
            disk.create(path) as stream,
            self.writer(stream, schema) as writer,
            progress.task(f"Writing {path.name}", total=total) as advance,
        ):
            for number, embeddings in enumerate(languages.values()):
                rank = 0
                check_utf8(embeddings.words, "An Arrow table")
                for words, rows in finite_blocks(embeddings, np.float32):
                    codes = np.full(len(rows), number, np.int32)
                    columns = {
                        LANGUAGE: pyarrow.DictionaryArray.from_arrays(codes, names),
                        WORD: pyarrow.array(list(words), pyarrow.string()),
                        RANK: np.arange(rank, rank + len(rows)),
                        VECTOR: pyarrow.FixedSizeListArray.from_arrays(rows.ravel(), dimension),
                    }
                    arrays = [pyarrow.array(columns[name]) for name in fields]
                    arrays.append(columns[VECTOR])
                    writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
                    rank += len(rows)
                    advance(len(rows))

    def _columns(self, path: Path) -> list[str]:
        names: list[str] = self.schema(path).names
        for name in (WORD, VECTOR):
            if names.count(name) != 1:
                raise FormatError(
                    f"{path} has the columns {', '.join(names)[:200] or 'none'}; embeddings are "
                    f"one column {WORD!r} and one {VECTOR!r}, and {LANGUAGE!r} and {RANK!r} where "
                    "they are known. Rename its columns."
                )
        return [name for name in (LANGUAGE, RANK) if names.count(name) == 1]

    def _rows(
        self, path: Path, max_words: int | None
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows of the file to read, in the order of their ranks, and their parts."""
        columns = self._columns(path)
        language = self._language(path) if LANGUAGE in columns else None
        kept, ranks, part_of, begin = [], [], [], 0
        for number, part in enumerate(self.parts(path, columns or [WORD])):
            chosen = np.arange(part.num_rows)
            if LANGUAGE in columns:
                chosen = np.flatnonzero(is_equal(path, part.column(LANGUAGE), language))
            if RANK in columns:
                ranks.append(whole_numbers(path, part.column(RANK))[chosen])
            kept.append(chosen + begin)
            part_of.append(np.full(len(chosen), number))
            begin += part.num_rows
            if RANK not in columns and max_words is not None and sum(map(len, kept)) >= max_words:
                break
        rows = np.concatenate(kept or [np.empty(0, np.intp)])
        parts = np.concatenate(part_of or [np.empty(0, np.intp)])
        if ranks:
            order = np.argsort(np.concatenate(ranks), kind="stable")
            rows, parts = rows[order], parts[order]
        return rows[:max_words], parts[:max_words]

    def _language(self, path: Path) -> str | None:
        names = self.languages(path)
        if self.language in names or len(names) < 2:
            return self.language if self.language in names else next(iter(names), None)
        shown = ", ".join(names[:20])
        if self.language is None:
            raise FormatError(
                f"{path} holds {len(names)} languages: {shown}. Say which, language={names[0]!r} "
                f"(on the command line {names[0]}={path.name}), or take all: read_space(path)."
            )
        raise UnknownNameError(f"{path} holds no language {self.language!r}. It holds {shown}.")


def _check_dimension(path: Path, vectors: Matrix, block: Matrix) -> None:
    if vectors.shape[1] != block.shape[1]:
        raise FormatError(
            f"{path}: some vectors have {vectors.shape[1]} numbers, others {block.shape[1]}. Every "
            "word needs as many."
        )

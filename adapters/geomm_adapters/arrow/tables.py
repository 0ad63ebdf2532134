"""Tables of Arrow: `language, word, rank, vector` in `.parquet` or `.arrow` files, by pyarrow.

    language   text      the language of the word; a file of one language may leave it out
    word       text
    rank       int64     0, 1, 2, ... in its language, the most frequent word first; may be missing
    vector     float32   a list of as many numbers in each row

Files of others are read if they have `word` and `vector`. A file is opened once and gone through
part by part, twice: first languages and ranks, then the words that are wanted. So memory holds one
part and what is returned.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeAlias

import numpy as np

from geomm_adapters.arrow.columns import (
    arrow_errors,
    import_pyarrow,
    is_equal,
    matrix_of,
    taken,
    texts,
    whole_numbers,
)
from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, UnknownNameError
from geomm_plugin.files import disk
from geomm_plugin.formats import Format, check_utf8, finite_blocks

WORD, VECTOR, LANGUAGE, RANK = "word", "vector", "language", "rank"
Parts: TypeAlias = Iterator[tuple[int, Any]]  # the number of the first row, and some rows


class ArrowTable(Format):
    """Words and vectors as a table, of one language or of several."""

    def __init__(self, language: str | None = None):
        self.language = language

    def of_language(self, language: str) -> Format:
        """Read and write the rows of one language."""
        return type(self)(language)

    @abstractmethod
    def schema(self, stream: BinaryIO) -> Any:
        """Return the names and types of the columns."""

    @abstractmethod
    def parts(
        self, stream: BinaryIO, columns: list[str], wanted: RowIndices | None = None
    ) -> Parts:
        """Go through some columns of a file; parts without a wanted row may be left out."""

    @abstractmethod
    def writer(self, stream: Any, schema: Any) -> Any:
        """Return what writes record batches."""

    def languages(self, path: Path) -> list[str]:
        """Return the languages of a file, in the order in which they begin."""
        with arrow_errors(path), path.open("rb") as stream:
            return self._languages(path, stream)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the words of a language in the order of their ranks, or of the file."""
        with arrow_errors(path), path.open("rb") as stream:
            rows = self._rows(path, stream, max_words)
            order = np.argsort(rows, kind="stable")  # the order of the file
            in_file = rows[order]
            words: list[str] = []
            vectors: Matrix | None = None
            for begin, part in self.parts(stream, [WORD, VECTOR], in_file):
                first, last = np.searchsorted(in_file, [begin, begin + part.num_rows])
                if first == last:
                    continue
                own = in_file[first:last] - begin
                words += texts(path, taken(path, part.column(WORD), own))
                block = matrix_of(path, taken(path, part.column(VECTOR), own), words[first:])
                if vectors is None:
                    vectors = np.empty((len(rows), block.shape[1]), block.dtype)
                _check_dimension(path, vectors, block)
                vectors[order[first:last]] = block
            if len(words) != len(rows):
                raise FormatError(f"{path} was replaced while it was read. Read it again.")
            if vectors is None:
                raise FormatError(f"{path} holds no words. Write it again.")
            place = np.empty(len(rows), np.intp)
            place[order] = np.arange(len(rows))
            return Embeddings([words[row] for row in place.tolist()], vectors)

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
        with disk.create(path) as stream, self.writer(stream, schema) as writer:
            for number, embeddings in enumerate(languages.values()):
                rank = 0
                check_utf8(embeddings.words, "An Arrow table")
                for words, rows in finite_blocks(embeddings, path):
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

    def _columns(self, path: Path, stream: BinaryIO) -> list[str]:
        names: list[str] = self.schema(stream).names
        for name in (WORD, VECTOR):
            if names.count(name) != 1:
                raise FormatError(
                    f"{path} has the columns {', '.join(names)[:200] or 'none'}; embeddings are "
                    f"one column {WORD!r} and one {VECTOR!r}, and {LANGUAGE!r} and {RANK!r} where "
                    "they are known. Rename its columns."
                )
        return [name for name in (LANGUAGE, RANK) if names.count(name) == 1]

    def _rows(self, path: Path, stream: BinaryIO, max_words: int | None) -> RowIndices:
        """Return the rows of the file to read, in the order of their ranks."""
        columns = self._columns(path, stream)
        language = self._language(path, stream) if LANGUAGE in columns else None
        kept, ranks, count = [np.empty(0, np.intp)], [], 0
        for begin, part in self.parts(stream, columns or [WORD]):
            chosen = np.arange(part.num_rows)
            if LANGUAGE in columns:
                chosen = np.flatnonzero(is_equal(path, part.column(LANGUAGE), language))
            if RANK in columns:
                ranks.append(whole_numbers(path, part.column(RANK))[chosen])
            kept.append(chosen + begin)
            count += len(chosen)
            if RANK not in columns and max_words is not None and count >= max_words:
                break
        rows = np.concatenate(kept)
        if ranks:
            rows = rows[np.argsort(np.concatenate(ranks), kind="stable")]
        return rows[:max_words]

    def _languages(self, path: Path, stream: BinaryIO) -> list[str]:
        if LANGUAGE not in self._columns(path, stream):
            return []
        columns = (part.column(LANGUAGE) for _, part in self.parts(stream, [LANGUAGE]))
        return [*dict.fromkeys(n for column in columns for n in texts(path, column.unique()))]

    def _language(self, path: Path, stream: BinaryIO) -> str | None:
        names = self._languages(path, stream)
        if self.language in names or len(names) < 2:
            return self.language if self.language in names else next(iter(names), None)
        shown = ", ".join(names[:20])
        if self.language is None:
            raise FormatError(
                f"{path} holds {len(names)} languages: {shown}. Say which, language={names[0]!r} "
                f"(on the command line {names[0]}={path.name}), or take all: read_space(path)."
            )
        raise UnknownNameError(f"{path} holds no language {self.language!r}. It holds {shown}.")


class ParquetFile(ArrowTable):
    """A table in Apache Parquet, which data frames and vector databases open."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def schema(self, stream: BinaryIO) -> Any:
        """Read the footer."""
        return self._open(stream).schema_arrow

    def parts(
        self, stream: BinaryIO, columns: list[str], wanted: RowIndices | None = None
    ) -> Parts:
        """Decode some rows at a time, whatever the size of a row group is."""
        file = self._open(stream)
        begin = 0
        for number in range(file.metadata.num_row_groups):
            end = begin + file.metadata.row_group(number).num_rows
            if wanted is None or np.diff(np.searchsorted(wanted, [begin, end])).any():
                groups = {"row_groups": [number], "columns": columns, "use_threads": False}
                for batch in file.iter_batches(BLOCK_ROWS, **groups):
                    yield begin, batch
                    begin += batch.num_rows
                    if wanted is not None and begin > wanted[-1]:
                        return
            begin = end

    def writer(self, stream: Any, schema: Any) -> Any:
        """Write a row group for each block."""
        from pyarrow import parquet

        return parquet.ParquetWriter(
            stream,
            schema,
            compression="zstd",
            use_dictionary=[LANGUAGE],
            write_page_checksum=True,
        )

    def _open(self, stream: BinaryIO) -> Any:
        import_pyarrow("Reading .parquet files")
        from pyarrow import parquet

        options = {"pre_buffer": False, "buffer_size": 2**16, "page_checksum_verification": True}
        return parquet.ParquetFile(stream, **options)


class ArrowFile(ArrowTable):
    """A table in Arrow's own format (Feather, version 2), which is read without parsing."""

    name: ClassVar[str] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather")

    def schema(self, stream: BinaryIO) -> Any:
        """Read the head."""
        return self._open(stream).schema

    def parts(
        self, stream: BinaryIO, columns: list[str], wanted: RowIndices | None = None
    ) -> Parts:
        """Read batch by batch, and check each: offsets may lead anywhere."""
        pyarrow = import_pyarrow("Reading .arrow files")
        reader = self._open(stream)
        count = getattr(reader, "num_record_batches", None)
        begin = 0
        for batch in map(reader.get_batch, range(count)) if count is not None else reader:
            if wanted is not None and begin > wanted[-1:].max(initial=-1):
                return
            chosen = pyarrow.RecordBatch.from_arrays([batch.column(c) for c in columns], columns)
            chosen.validate(full=True)
            yield begin, chosen
            begin += batch.num_rows

    def writer(self, stream: Any, schema: Any) -> Any:
        """Write without compression, so that others can map the file into memory."""
        return import_pyarrow("Writing .arrow files").ipc.new_file(stream, schema)

    def _open(self, stream: BinaryIO) -> Any:
        """Open a file, or a stream as Hugging Face's `datasets` keep it."""
        pyarrow = import_pyarrow("Reading .arrow files")
        stream.seek(0)
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        source = pyarrow.PythonFile(stream, mode="r")
        return (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(source)


def _check_dimension(path: Path, vectors: Matrix, block: Matrix) -> None:
    if vectors.shape[1] != block.shape[1]:
        raise FormatError(
            f"{path}: some vectors have {vectors.shape[1]} numbers, others {block.shape[1]}. Every "
            "word needs as many."
        )

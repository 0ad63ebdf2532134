"""Tables of Arrow: `language, word, rank, vector` in `.parquet` or `.arrow` files, by pyarrow.

    language   text      the language of the word; a file of one language may leave it out
    word       text
    rank       int64     0, 1, 2, ... in its language, the most frequent word first; may be missing
    vector     float32   a list of as many numbers in each row

Files of others are read if they have `word` and `vector`, or by a column of theirs whose texts or
whole numbers tell rows apart (`format_by`): then their vectors are `vector`, or the only column of
lists. A file is opened once and gone through part by part, twice: first languages and ranks, then
the words that are wanted. So memory holds one part and what is returned.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, GeommError, UnknownNameError, missing_extra
from geomm_plugin.files import disk
from geomm_plugin.formats import Format, check_utf8, finite_blocks

WORD, VECTOR, LANGUAGE, RANK = "word", "vector", "language", "rank"
_LARGEST_DIMENSION = 2**20
Parts: TypeAlias = Iterator[tuple[int, Any]]  # the number of the first row, and some rows


class ArrowTable(Format):
    """Words and vectors as a table, of one language or of several."""

    def __init__(self, language: str | None = None):
        self.language = language

    def of_language(self, language: str) -> Format:
        """Read and write the rows of one language."""
        made = type(self)(language)
        made.by = self.by
        return made

    @abstractmethod
    def open(self, stream: BinaryIO) -> Any:
        """Return what reads a file from its beginning."""

    @abstractmethod
    def parts(self, file: Any, columns: list[str], wanted: RowIndices | None = None) -> Parts:
        """Go through some columns of a file; parts without a wanted row may be left out."""

    @abstractmethod
    def writer(self, stream: BinaryIO, schema: Any) -> Any:
        """Return what writes record batches."""

    def languages(self, path: Path) -> list[str]:
        """Return the languages of a file, in the order in which they begin."""
        with arrow_errors(path), path.open("rb") as stream:
            return self._languages(stream)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the words of a language in the order of their ranks, or of the file."""
        with arrow_errors(path), path.open("rb") as stream:
            names, vector, *_ = self._columns(stream)
            rows = self._rows(path, stream, max_words)
            order = np.argsort(rows, kind="stable")  # the order of the file
            in_file, words, count = rows[order], [""] * len(rows), 0
            vectors: Matrix | None = None
            for begin, part in self.parts(self.open(stream), [names, vector], in_file):
                first, last = np.searchsorted(in_file, [begin, begin + part.num_rows])
                if first == last:
                    continue
                places, own = order[first:last], in_file[first:last] - begin
                found = _texts(_taken(part.column(names), own), numbers=self.by is not None)
                block = _matrix(_taken(part.column(vector), own), found)
                for place, word in zip(places.tolist(), found, strict=True):
                    words[place] = word
                if vectors is None:
                    vectors = np.empty((len(rows), block.shape[1]), block.dtype)
                if vectors.shape[1] != block.shape[1]:
                    raise FormatError(
                        f"some vectors have {vectors.shape[1]} numbers, others {block.shape[1]}. "
                        "Every word needs as many."
                    )
                vectors[places] = block
                count += len(found)
            if count < len(rows):
                raise FormatError("it was replaced while it was read. Read it again.")
            if vectors is None:
                raise FormatError("it holds no words. Write it again.")
            return Embeddings(words, vectors)

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write one language, under its name if that is known."""
        self.write_languages(path, {self.language or "": embeddings})

    def write_languages(self, path: Path, languages: Mapping[str, Embeddings]) -> None:
        """Write block by block, as the vectors are made: one language after the other."""
        pyarrow = _pyarrow(f"Writing {path.suffix} files")
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
                        RANK: pyarrow.array(np.arange(rank, rank + len(rows))),
                        VECTOR: pyarrow.FixedSizeListArray.from_arrays(rows.ravel(), dimension),
                    }
                    arrays = [columns[name] for name in schema.names]
                    writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
                    rank += len(rows)

    def _columns(self, stream: BinaryIO) -> list[str]:
        """Return the columns of words and vectors, then which of `language` and `rank` are there.

        Where rows are told apart by a column of somebody else's, those two may mean anything.
        """
        from pyarrow import types

        file = self.open(stream)
        schema = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
        names: list[str] = schema.names
        kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        lists = [field.name for field in schema if any(kind(field.type) for kind in kinds)]
        is_other = self.by is not None and VECTOR not in names and len(lists) == 1
        needed = [WORD if self.by is None else self.by, lists[0] if is_other else VECTOR]
        for name in needed:
            if names.count(name) != 1:
                raise FormatError(
                    f"it has the columns {', '.join(names)[:200] or 'none'}; embeddings are one "
                    f"column {needed[0]!r} and one {VECTOR!r}, and {LANGUAGE!r} and {RANK!r} where "
                    "they are known. Rename its columns; `geomm migrate` takes ids --by a column."
                )
        further = (LANGUAGE, RANK) if self.by is None else ()
        return needed + [name for name in further if names.count(name) == 1]

    def _rows(self, path: Path, stream: BinaryIO, max_words: int | None) -> RowIndices:
        """Return the rows of the file to read, in the order of their ranks."""
        word, _, *columns = self._columns(stream)
        language = self._language(path, stream) if LANGUAGE in columns else None
        kept, ranks, count = [np.empty(0, np.intp)], [], 0
        for begin, part in self.parts(self.open(stream), columns or [word]):
            chosen = np.arange(part.num_rows)
            if LANGUAGE in columns:
                chosen = np.flatnonzero(_is_equal(part.column(LANGUAGE), language))
            if RANK in columns:
                ranks.append(_whole_numbers(part.column(RANK))[chosen])
            kept.append(chosen + begin)
            count += len(chosen)
            if RANK not in columns and max_words is not None and count >= max_words:
                break
        rows = np.concatenate(kept)
        if ranks:
            rows = rows[np.argsort(np.concatenate(ranks), kind="stable")]
        return rows[:max_words]

    def _languages(self, stream: BinaryIO) -> list[str]:
        if LANGUAGE not in self._columns(stream):
            return []
        parts = self.parts(self.open(stream), [LANGUAGE])
        return [*dict.fromkeys(n for _, part in parts for n in _texts(part.column(0).unique()))]

    def _language(self, path: Path, stream: BinaryIO) -> str | None:
        """Return the language to read: the one of a file that holds no other, by any name."""
        names = self._languages(stream)
        if self.language in names or len(names) < 2:
            return self.language if self.language in names else next(iter(names), None)
        shown = ", ".join(names[:20])
        if self.language is None:
            raise FormatError(
                f"it holds {len(names)} languages: {shown}. Say which, language={names[0]!r} "
                f"(on the command line {names[0]}={path.name}), or take all: read_space(path)."
            )
        raise UnknownNameError(f"{path} holds no language {self.language!r}. It holds {shown}.")


class ParquetFile(ArrowTable):
    """A table in Apache Parquet, which data frames and vector databases open."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def open(self, stream: BinaryIO) -> Any:
        """Read the footer."""
        from pyarrow import parquet

        options = {"pre_buffer": False, "buffer_size": 2**16, "page_checksum_verification": True}
        return parquet.ParquetFile(stream, **options)

    def parts(self, file: Any, columns: list[str], wanted: RowIndices | None = None) -> Parts:
        """Decode some rows at a time, whatever the size of a row group is."""
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

    def writer(self, stream: BinaryIO, schema: Any) -> Any:
        """Write a row group for each block."""
        from pyarrow import parquet

        options = {"use_dictionary": [LANGUAGE], "write_page_checksum": True}
        return parquet.ParquetWriter(stream, schema, compression="zstd", **options)


class ArrowFile(ArrowTable):
    """A table in Arrow's own format (Feather, version 2), which is read without parsing."""

    name: ClassVar[str] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather")

    def open(self, stream: BinaryIO) -> Any:
        """Open a file, or a stream as Hugging Face's `datasets` keep it."""
        import pyarrow

        stream.seek(0)
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        source = pyarrow.PythonFile(stream, mode="r")
        return (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(source)

    def parts(self, file: Any, columns: list[str], wanted: RowIndices | None = None) -> Parts:
        """Read batch by batch, and check each: offsets may lead anywhere."""
        count = getattr(file, "num_record_batches", None)
        begin = 0
        for batch in map(file.get_batch, range(count)) if count is not None else file:
            if wanted is not None and begin > wanted[-1:].max(initial=-1):
                return
            chosen = batch.select(columns)
            chosen.validate(full=True)
            yield begin, chosen
            begin += batch.num_rows

    def writer(self, stream: BinaryIO, schema: Any) -> Any:
        """Write without compression, so that others can map the file into memory."""
        return _pyarrow("Writing .arrow files").ipc.new_file(stream, schema)


@contextmanager
def arrow_errors(path: Path) -> Iterator[None]:
    """Name the file in errors about a table, and turn what pyarrow raises into a sentence."""
    _pyarrow(f"{path}, a table,")
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error
    except (GeommError, MemoryError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except Exception as error:  # parsers of files from anybody: anything may be raised
        raise FormatError(
            f"{path} is not a whole table of Arrow or Parquet ({str(error)[:200]}). Fetch it "
            "again, or write it again."
        ) from error


def _pyarrow(what: str) -> Any:
    """Import the library, or say what needs it and how to install it."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise missing_extra(what, "arrow") from None
    return pyarrow


def _whole(column: Any) -> Any:
    """Return a column without nulls; a dictionary-encoded one is decoded."""
    import pyarrow

    column.validate(full=True)
    if pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pyarrow.types.is_string_view(column.type):  # for which pyarrow has few functions
        column = column.cast(pyarrow.large_string())
    if column.null_count:
        raise FormatError("it has rows without a value. Leave them out, and write it again.")
    return column


def _taken(column: Any, rows: RowIndices) -> Any:
    """Return some rows of a column."""
    return column if len(rows) == len(column) else _whole(column).take(rows)


def _text_column(column: Any) -> Any:
    from pyarrow import types

    column = _whole(column)
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        raise FormatError(f"its words are {column.type}, not texts. Turn the column into texts.")
    return column


def _texts(column: Any, *, numbers: bool = False) -> list[str]:
    """Return the texts of a column; of whole numbers their digits, where these will do."""
    from pyarrow import types

    if numbers and types.is_integer(column.type):
        return [str(number) for number in _whole(column).to_pylist()]
    texts: list[str] = _text_column(column).to_pylist()
    return texts


def _is_equal(column: Any, language: str | None) -> npt.NDArray[np.bool_]:
    """Return which rows have this text."""
    from pyarrow import compute, scalar

    column = _text_column(column)
    same: npt.NDArray[np.bool_] = compute.equal(column, scalar(language, column.type)).to_numpy(
        zero_copy_only=False
    )
    return same


def _whole_numbers(column: Any) -> npt.NDArray[np.int64]:
    from pyarrow import types

    column = _whole(column)
    if not types.is_integer(column.type):
        raise FormatError(f"its ranks are {column.type}, not whole numbers. Drop the column.")
    numbers: npt.NDArray[np.int64] = column.to_numpy(zero_copy_only=False)
    return numbers


def _matrix(column: Any, words: list[str]) -> Matrix:
    """Return lists of numbers, one for each word, as the rows of a matrix."""
    from pyarrow import types

    column = _whole(column)
    kind = column.type
    if types.is_fixed_size_list(kind):
        lengths = np.full(len(column), kind.list_size)
    elif types.is_list(kind) or types.is_large_list(kind):
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    else:
        raise FormatError(f"its vectors are {kind}, not lists of numbers.")
    dimension = int(lengths[0])
    if (lengths != dimension).any():
        row = int(np.argmax(lengths != dimension))
        raise FormatError(
            f"the vector of {words[row]!r} has {lengths[row]} numbers, that of {words[0]!r} "
            f"{dimension}. Leave the word out, or fix its vector."
        )
    if not types.is_floating(kind.value_type) or not 0 < dimension <= _LARGEST_DIMENSION:
        raise FormatError(f"its vectors are {kind}, of {dimension} numbers.")
    values = column.flatten()
    if values.null_count:
        raise FormatError("some vector has a number that is missing. Leave the word out.")
    matrix: Matrix = values.to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return matrix

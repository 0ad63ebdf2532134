"""Arrow's tables in two kinds of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.arrow.columns import import_pyarrow
from geomm_adapters.arrow.table import LANGUAGE, ArrowTable
from geomm_plugin.errors import FormatError

_LARGEST_PART = 2**31  # bytes of a row group; files are written with some megabytes


class ParquetFile(ArrowTable):
    """A table in Apache Parquet, which data frames and vector databases open."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def schema(self, path: Path) -> Any:
        """Read the footer."""
        return self._open(path).schema_arrow

    def parts(
        self, path: Path, columns: list[str], wanted: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[Any]:
        """Read row group by row group; of those not wanted, say how many rows they have."""
        file = self._open(path)
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            if wanted is not None and not (number < len(wanted) and wanted[number]):
                yield group.num_rows
                continue
            if not 0 <= group.total_byte_size <= _LARGEST_PART:
                raise FormatError(
                    f"{path}: its row group {number} has {group.total_byte_size} bytes; at most "
                    f"{_LARGEST_PART} are read at once. Write it with smaller row groups."
                )
            yield file.read_row_group(number, columns=columns, use_threads=False)

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

    def _open(self, path: Path) -> Any:
        import_pyarrow(f"{path}, a table,")
        from pyarrow import parquet

        return parquet.ParquetFile(path, memory_map=False, page_checksum_verification=True)


class ArrowFile(ArrowTable):
    """A table in Arrow's own format (Feather, version 2), which is read without parsing."""

    name: ClassVar[str] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather")

    def schema(self, path: Path) -> Any:
        """Read the head."""
        with self._open(path) as reader:
            return reader.schema

    def parts(
        self, path: Path, columns: list[str], wanted: npt.NDArray[np.bool_] | None = None
    ) -> Iterator[Any]:
        """Read batch by batch, and check each: offsets may lead anywhere."""
        pyarrow = import_pyarrow(f"{path}, a table,")
        with self._open(path) as reader:
            count = getattr(reader, "num_record_batches", None)
            batches = map(reader.get_batch, range(count)) if count is not None else reader
            for batch in batches:
                chosen = pyarrow.RecordBatch.from_arrays(
                    [batch.column(c) for c in columns], columns
                )
                chosen.validate(full=True)
                yield chosen

    def writer(self, stream: Any, schema: Any) -> Any:
        """Write without compression, so that others can map the file into memory."""
        return import_pyarrow("Writing .arrow files").ipc.new_file(stream, schema)

    @contextmanager
    def _open(self, path: Path) -> Iterator[Any]:
        """Open a file, or a stream as Hugging Face's `datasets` keep it."""
        pyarrow = import_pyarrow(f"{path}, a table,")
        with path.open("rb") as stream:
            is_file = stream.read(6) == b"ARROW1"
        with pyarrow.OSFile(str(path)) as source:
            opened = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
            with opened(source) as reader:
                yield reader

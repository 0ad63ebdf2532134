"""[read/export] File formats, chosen by the suffix of a path."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin import progress, registry
from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import FileError, FormatError, GeommError, ParameterError
from geomm_plugin.factorization import few_threads
from geomm_plugin.files.atomic import atomic_files, refuse_moving
from geomm_plugin.files.outputs import PART
from geomm_plugin.files.stamps import files_in, read_one_version
from geomm_plugin.files.text_lines import decoded, not_utf8, why_not_utf8
from geomm_plugin.source_file import SourceFile


class Format(ABC):
    """A way to keep words and vectors in a file.

    A format is chosen by its `name` or its `suffixes`; of two suffixes that fit, the longer one
    wins. Where several formats share a suffix, or a path has none, `recognizes` decides.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    in_utf8: ClassVar[bool] = False  # whether files are text, whose words should be UTF-8
    streams: ClassVar[bool] = False  # whether `stream` reads a file, some words at a time
    by: str | None = None  # the column that holds the words of a table, if it is not the usual one

    @abstractmethod
    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words of a file, or all."""

    def stream(
        self, path: Path, max_words: int | None
    ) -> Iterator[tuple[list[str], npt.NDArray[np.float32]]]:
        """Read a file of `streams` from its beginning, some words at a time; no word repeats."""
        raise FormatError(f"The format {self.name!r} is read as a whole.")

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """True if a file or folder is of this format, by its content."""
        return path.is_file()

    @classmethod
    def takes(cls, embeddings: Embeddings) -> bool:
        """True if embeddings belong in this format, where several write the same suffix."""
        return True

    def for_embeddings(self, embeddings: Embeddings) -> Format:
        """Return the format that writes these: itself, unless several share a suffix."""
        return self

    def of_language(self, language: str) -> Format:
        """Return the format that reads and writes the part of one language.

        Only files that hold several languages differ; of one language, any name will do.
        """
        return self

    def languages(self, path: Path) -> list[str]:
        """Return the languages that a file names, in its order; none where it names none."""
        return []

    def write_languages(self, path: Path, languages: Mapping[str, Embeddings]) -> None:
        """Write several languages into one file, as `write` does one."""
        raise FormatError(
            f"The format {self.name!r} holds one language. Write a file for each, or one "
            ".parquet file for all."
        )

    def files(self, path: Path) -> list[Path]:
        """Return all files that `read` opens: the path itself, or what lies in it or beside it."""
        return files_in(path)

    def neighbors(self, path: Path) -> list[Path]:
        """Return the names beside a path that `read` would open as parts of it.

        While a file is at that path, no other output is written under these names.
        """
        return [file for file in self.files(path) if file != path and path not in file.parents]

    def outputs(self, path: Path) -> list[Path]:
        """Return all that `write` makes: the path itself, and what lies beside it."""
        return [path]

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a file or folder, or several files of one stem.

        `path` lies in a temporary folder; all that is there is moved when everything went well.
        """
        raise FormatError(f"The format {self.name!r} can be read, but not written.")


class SharedSuffix(Format):
    """Formats that write the same suffix: each takes its own embeddings, the last one any."""

    name: ClassVar[str] = "shared_suffix"
    suffixes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, formats: Sequence[type[Format]]):
        self.formats = list(formats)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read as the format that recognizes the file."""
        return read_embeddings(path, max_words=max_words)

    def for_embeddings(self, embeddings: Embeddings) -> Format:
        """Return the first format that takes these embeddings."""
        taking = [known for known in self.formats[:-1] if known.takes(embeddings)]
        return (taking or self.formats[-1:])[0]()

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write in the format of these embeddings."""
        self.for_embeddings(embeddings).write(path, embeddings)


def read_embeddings(
    path: str | Path,
    *,
    max_words: int | None = None,
    format: str | Format | None = None,
    language: str | None = None,
    encoding: str | None = None,
) -> Embeddings:
    """Read words and vectors from a file.

    Parameters
    ----------
    max_words
        Stop after so many words; files list the most frequent ones first.
    format
        The name of a registered format, or an object such as FastTextVec(); by default the suffix
        of the path says it.
    language
        Which language to read from a file that holds several.
    encoding
        The encoding of the words, e.g. "latin-1"; by default UTF-8.
    """
    path = as_path(path)
    if max_words is not None and not (isinstance(max_words, Integral) and max_words >= 1):
        raise ParameterError(f"max_words must be a whole number, at least 1; it is {max_words!r}.")
    chosen: Format = find_format(existing(path), format)
    files: list[Path] = []

    def find_files() -> list[Path]:
        nonlocal chosen
        chosen = find_format(existing(path), format)
        if language is not None:
            chosen = chosen.of_language(language)
        with _errors_of_plugins(chosen, path):
            files[:] = chosen.files(path)
        return files

    def read() -> Embeddings:
        with _errors_of_plugins(chosen, path):
            embeddings = chosen.read(existing(path), max_words=max_words)
            if not isinstance(embeddings, Embeddings):
                raise TypeError(f"read() returned a {type(embeddings).__name__}")
            return embeddings

    try:
        embeddings = read_one_version(find_files, read)
    except OSError as error:
        if isinstance(error, GeommError):
            raise
        if isinstance(error, FileNotFoundError) and not path.exists():
            raise _missing(path) from error
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    if encoding is not None:
        words = decoded(path, embeddings.words, encoding)
        embeddings = Embeddings(
            words, embeddings.rows, embeddings.attributes, subwords=embeddings.subwords
        )
    elif chosen.in_utf8 and (odd := not_utf8(embeddings.words)):
        warnings.warn(why_not_utf8(path, embeddings.words, odd, "words"), stacklevel=2)
    distinct = embeddings.distinct()
    if distinct is not embeddings:
        rows = enumerate(embeddings.words)
        repeated = next(word for row, word in rows if embeddings.row_of[word] != row)
        warnings.warn(
            f"{path}: {len(embeddings) - len(distinct)} words repeat an earlier one, e.g. "
            f"{repeated[:60]!r}; the first vector of each word was kept.",
            stacklevel=2,
        )
    size = f"{len(distinct):,} words x {distinct.dimension}"
    distinct.file = SourceFile.read_from(path, size, files)
    return distinct


def read_languages(
    paths: Mapping[str, str | Path],
    *,
    max_words: int | None = None,
    encoding: str | None = None,
) -> dict[str, Embeddings]:
    """Read the files of several languages as one version: none was replaced in the meantime.

    So files that one run aligned are never read together with those of another.
    """
    for path in paths.values():
        check_exists(as_path(path))
    return read_one_version(
        lambda: [file for path in paths.values() for file in files_of(as_path(path))],
        lambda: {
            language: read_embeddings(
                path, max_words=max_words, language=language, encoding=encoding
            )
            for language, path in paths.items()
        },
    )


def files_of(path: Path, format: str | Format | None = None) -> list[Path]:
    """Return the files that a path of embeddings stands for, as they are read at this moment."""
    place = existing(path)
    return find_format(place, format).files(place)


def write_embeddings(
    embeddings: object, path: str | Path, *, format: str | Format | None = None
) -> None:
    """Write words and vectors to a file, whose suffix says the format.

    The file appears whole or not at all, and an old file of that name stays until then.

    Parameters
    ----------
    embeddings
        Embeddings, or another object with words and vectors: gensim KeyedVectors, a mapping, ...
    format
        The name of a registered format, or an object such as FastTextVec(precision=5); by default
        the suffix of the path says it.
    """
    embeddings = as_embeddings(embeddings)
    path = as_path(path)
    chosen = find_format(path, format, to_write=True)
    with written_whole(path, chosen) as part, _errors_of_plugins(chosen, path):
        chosen.write(part, embeddings)


@contextmanager
def _errors_of_plugins(chosen: Format, path: Path) -> Iterator[None]:
    """Turn what an installed plugin raises into a sentence that names its package."""
    try:
        yield
    except (GeommError, OSError, MemoryError):
        raise
    except Exception as error:
        known = registry.formats.get(chosen.name)
        if known is not type(chosen) or registry.formats.origin(chosen.name).is_built_in:
            raise
        raise FormatError(
            f"The format {chosen.name!r} ({registry.formats.origin(chosen.name).package}) failed "
            f"on {path}: {type(error).__name__}: {error}. Update or uninstall its package."
        ) from error


@contextmanager
def written_whole(path: Path, chosen: Format) -> Iterator[Path]:
    """Give a place to write to; what is there moves to the path when everything went well."""
    refuse_neighbors(path, chosen.outputs(path))
    # Blocks are mapped between writes; idle BLAS threads would use the processor meanwhile.
    with atomic_files(path) as part, few_threads():
        yield part
        refuse_neighbors(path, [path.with_name(new.name) for new in part.parent.iterdir()])


def refuse_neighbors(path: Path, outputs: Iterable[Path]) -> None:
    """Refuse an output whose name makes it a part of another file beside it.

    So `x.txt` is not written where it would be the vocabulary of `x.npy`, and `x.npy` not where its
    vocabulary would replace an `x.vocab` that belongs to something else.
    """
    outputs = list(outputs)
    if not path.parent.is_dir():
        return
    was_killed = any(path.parent.glob(f"{PART}*"))  # a run that had moved the path away
    for output in outputs:
        if output != path and output.exists() and not (path.exists() or was_killed):
            raise FileError(
                f"{path} is written with {output}, which is there already, as a part of something "
                "else. Choose another name, or remove that file."
            )
    names = {output.name for output in outputs}
    for other in sorted(path.parent.iterdir()):
        if other.name in names or not _same_beginning(other, outputs) or not other.is_file():
            continue
        for known in _formats_by_suffix(other):
            neighbors: list[Path] = []
            with suppress(GeommError):
                neighbors = known().neighbors(other)
            taken = names.intersection(neighbor.name for neighbor in neighbors)
            if taken:
                raise FileError(
                    f"{path.parent / min(taken)} is a part of {other} by its name, and is not "
                    "written as something else. Choose another name, or remove that file."
                )


def _same_beginning(path: Path, others: Iterable[Path]) -> bool:
    return any(path.name.split(".")[0] == other.name.split(".")[0] for other in others)


def finite_rows(
    words: Sequence[str], rows: Matrix, dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[Any]:
    """Return the vectors of some words as they are written, provided that every number is finite.

    A number too large for the type is infinite in it.
    """
    with np.errstate(over="ignore"):  # refused below, with the word
        written = np.ascontiguousarray(rows, dtype)
    finite = np.isfinite(written)
    if not finite.all():
        word = words[int(np.argmin(finite.all(axis=1)))]
        raise FormatError(
            f"The vector of {word!r} holds NaN, infinity or a number too large for "
            f"{written.dtype.name}. Leave the word out, or fix its vector."
        )
    return written


def finite_blocks(
    embeddings: Embeddings, path: Path, dtype: npt.DTypeLike = np.float32
) -> Iterator[tuple[Sequence[str], npt.NDArray[Any]]]:
    """Go through words and vectors as they are written to a path, some at a time, with a bar."""
    start = 0
    with progress.task(f"Writing {path.name}", len(embeddings), "words") as advance:
        for block in embeddings.blocks():
            words = embeddings.words[start : start + len(block)]
            yield words, finite_rows(words, block, dtype)
            start += len(block)
            advance(len(block))


def check_utf8(words: Iterable[str], holder: str) -> None:
    """Refuse a word that is not UTF-8 by name, for what cannot hold one."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise FormatError(
                f"{holder} cannot hold the word {word!r}, which is not UTF-8. Rename the word, or "
                "write a .safetensors file, which holds any word."
            ) from None


def word_bytes(word: str) -> bytes:
    """Return a word in UTF-8; bytes that were not UTF-8 when it was read are the same again."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise FormatError(
            f"The word {word!r} holds half of a surrogate pair, which UTF-8 cannot hold. Rename "
            "the word, or write a .safetensors file, which holds any word."
        ) from None


def as_path(path: str | Path) -> Path:
    """Return a path that the system can take as the name of a file."""
    path = Path(path)
    try:
        path.lstat()
    except OSError:
        pass  # reported where the path is used
    except ValueError as error:  # a zero byte, half of a surrogate pair
        raise FileError(f"{str(path)!r} is no name of a file: {error}.") from error
    return path


def check_exists(path: Path) -> None:
    """Refuse a path that is not there."""
    existing(path)


def existing(path: Path) -> Path:
    """Return a path that can be read at this moment; one that is not there is refused."""
    refuse_moving(path)
    if not path.exists():
        raise _missing(path)
    return path


def _missing(path: Path) -> FileError:
    # While a set of files is renamed, the one that names the others is not there.
    written = path.parent.is_dir() and any(path.parent.glob(f"{PART}*"))
    advice = "A run writes there: try again." if written else "Check the path of the embeddings."
    return FileError(f"There is no file {path}. {advice}")


def find_format(
    path: Path, format: str | Format | None = None, *, to_write: bool = False
) -> Format:
    """Return the format given or named, or the one whose suffix the path ends in.

    A path without such a suffix is of the format that recognizes its content.
    """
    if isinstance(format, Format):
        return format
    if format is not None:
        return registry.formats[format]()
    fitting = _formats_by_suffix(path)
    if path.exists() and not to_write and len(fitting) != 1:
        candidates = fitting or [
            known for known in registry.formats.values() if _checks_content(known)
        ]
        recognized = [known for known in candidates if _recognizes(known, path)]
        if not recognized and _is_pickle(path):
            raise FormatError(
                f"{path} is a pickle, as gensim's own save() writes it; a pickle can run code, and "
                "is not opened here. If you trust it, open it with gensim's KeyedVectors.load "
                "(Word2Vec.load for a model) and pass the object, or save it once with "
                "save_word2vec_format('x.vec')."
            )
        by_content = [known for known in recognized if _checks_content(known)]
        fitting = _built_in_or_all(by_content or recognized) or fitting
    elif to_write or not path.exists():
        fitting = [known for known in fitting if known.write is not Format.write] or fitting
    if not fitting:
        raise FormatError(_why_no_format(path, to_write))
    return SharedSuffix(fitting) if to_write and len(fitting) > 1 else fitting[-1]()


def format_by(path: str | Path, column: str | None) -> Format:
    """Return the format of a path, which takes the words of a table from this column.

    Where there are no columns, the words are the file's own.
    """
    chosen = find_format(existing(as_path(path)))
    chosen.by = column
    return chosen


def writing_format(path: Path, precision: int | None = None) -> Format:
    """Return the format that a path's suffix says, with the precision given if it has one."""
    chosen = find_format(path, to_write=True)
    if precision is not None:
        if not hasattr(chosen, "precision"):
            raise ParameterError(
                f"A precision is for text; {''.join(path.suffixes)} files keep every digit. Leave "
                "it out, or choose the suffix .vec."
            )
        chosen.precision = precision
    return chosen


def _built_in_or_all(fitting: list[type[Format]]) -> list[type[Format]]:
    """Return the built-in formats of a list, else all: plugins cannot replace a built-in one."""
    origin = registry.formats.origin
    return [known for known in fitting if origin(known.name).is_built_in] or fitting


def _recognizes(known: type[Format], path: Path) -> bool:
    try:
        return known.recognizes(path)
    except Exception as error:
        origin = registry.formats.origin(known.name)
        if origin.is_built_in:
            raise
        registry.plugins.warn(known.name, origin.package, error)
        return False


def _checks_content(known: type[Format]) -> bool:
    """True if a format checks content; the default `recognizes` accepts any file."""
    return known.recognizes.__func__ is not Format.recognizes.__func__  # type: ignore[attr-defined]


def _is_pickle(path: Path) -> bool:
    """True if a file begins as a pickle: the mark of a protocol, and its number."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        begin = stream.read(2)
    return len(begin) == 2 and begin[0] == 0x80 and 2 <= begin[1] <= 5


def _why_no_format(path: Path, to_write: bool) -> str:
    every = registry.formats.values()
    fit = [known for known in every if not to_write or known.write is not Format.write]
    suffixes = ", ".join(sorted({suffix for known in fit for suffix in known.suffixes}))
    if to_write:
        end = "".join(path.suffixes) or "no suffix"
        return f"No format known here writes files that end in {end}. Choose one of: {suffixes}."
    if path.is_dir():
        return f"The folder {path} holds no embeddings that are known here. Name a file in it."
    return (
        f"The suffix of {path} is none of the formats known here ({suffixes}). Rename the file; in "
        f"Python, format= names its format: one of {', '.join(registry.formats)}."
    )


def _formats_by_suffix(path: Path) -> list[type[Format]]:
    """Return the formats of the longest suffix that fits; only built-in ones, if any fits."""
    fitting: dict[str, list[type[Format]]] = {}
    every = list(registry.formats.values())
    for known in _built_in_or_all([known for known in every if _has_suffix(known, path)]):
        for suffix in known.suffixes:
            if path.name.lower().endswith(suffix):
                fitting.setdefault(suffix, []).append(known)
    return fitting[max(fitting, key=len)] if fitting else []


def _has_suffix(known: type[Format], path: Path) -> bool:
    return any(path.name.lower().endswith(suffix) for suffix in known.suffixes)

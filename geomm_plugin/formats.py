"""[read/export] File formats, found by the suffix of a path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from geomm_plugin import registry
from geomm_plugin.atomic import all_written_beside, finish_moves
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.factorization import few_threads


class Format(ABC):
    """A way to keep words and vectors in a file.

    `name` and `suffixes` are how it is found; of two suffixes that fit, the longer one wins. Where
    several formats share a suffix, or a folder has none, `recognizes` decides.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words of a file, or all."""

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Tell from a look into a file or folder whether it is of this format."""
        return path.is_file()

    def files(self, path: Path) -> list[Path]:
        """Return all that `read` would look into: the path itself, and what lies beside it."""
        return [path]

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a file or folder, or several files of one stem.

        `path` lies in a temporary folder; all that is there is moved when everything went well.
        """
        raise FormatError(f"The format {self.name!r} can be read, but not written.")


def read_embeddings(
    path: str | Path, *, max_words: int | None = None, format: str | Format | None = None
) -> Embeddings:
    """Read words and vectors from a file.

    Parameters
    ----------
    max_words
        Stop after so many words; files list the most frequent ones first.
    format
        The name of a registered format, or an object such as FastTextVec(); by default the suffix
        of the path says it.
    """
    path = Path(path)
    if max_words is not None and max_words < 1:
        raise ParameterError(f"max_words must be at least 1; it is {max_words}.")
    check_exists(path)
    try:
        return find_format(path, format).read(path, max_words=max_words)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error


def write_embeddings(
    embeddings: Embeddings, path: str | Path, *, format: str | Format | None = None
) -> None:
    """Write words and vectors to a file, whose suffix says the format.

    The file appears whole or not at all, and an old file of that name stays until then.

    Parameters
    ----------
    format
        The name of a registered format, or an object such as FastTextVec(precision=5); by default
        the suffix of the path says it.
    """
    path = Path(path)
    chosen = find_format(path, format, to_write=True)
    # Mapped blocks are made between the writing; BLAS threads would spin until the next one.
    with all_written_beside(path) as part, few_threads():
        chosen.write(part, embeddings)


def check_exists(path: Path) -> None:
    """Refuse a path that is not there, also after a killed run's files are in their place."""
    finish_moves(path.parent)
    if not path.exists():
        raise FileError(f"There is no file {path}. Check the path of the embeddings.")


def find_format(
    path: Path, format: str | Format | None = None, *, to_write: bool = False
) -> Format:
    """Return the format given or named, or the one whose suffix the path ends in."""
    if isinstance(format, Format):
        return format
    if format is not None:
        return registry.formats[format]()
    fitting = _formats_by_suffix(path)
    if path.exists() and not to_write and len(fitting) != 1:
        candidates = fitting or list(registry.formats.values())
        fitting = [known for known in candidates if known.recognizes(path)] or fitting
    elif to_write or not path.exists():
        fitting = [known for known in fitting if known.write is not Format.write] or fitting
    if not fitting:
        known = sorted(s for f in registry.formats.values() for s in f.suffixes)
        raise FormatError(
            f"The suffix of {path} is none of the formats known here ({', '.join(known)}). "
            "Rename the file, or name its format: one of " + ", ".join(registry.formats) + "."
        )
    return fitting[-1]()


def _formats_by_suffix(path: Path) -> list[type[Format]]:
    """Return the formats of the longest suffix that fits."""
    fitting: dict[str, list[type[Format]]] = {}
    for known in registry.formats.values():
        for suffix in known.suffixes:
            if path.name.lower().endswith(suffix):
                fitting.setdefault(suffix, []).append(known)
    return fitting[max(fitting, key=len)] if fitting else []

"""[export] Files appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geomm_plugin.errors import FileError


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a path to write to; it becomes `path` at the end, or vanishes if anything fails."""
    make_folder(path.parent)
    try:
        # The suffix stays at the end: what a file holds may follow its name.
        handle, name = tempfile.mkstemp(prefix=".part-", suffix=f"-{path.name}", dir=path.parent)
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror}.") from error
    os.close(handle)
    part = Path(name)
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def all_written_beside(path: Path) -> Iterator[Path]:
    """Give a path in an empty folder; what is written there, files or folders, moves beside `path`.

    The one called like `path` moves last, so that it finds the others in their place.
    """
    make_folder(path.parent)
    try:
        with tempfile.TemporaryDirectory(prefix=".part-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            yield part
            written = sorted(Path(folder).iterdir(), key=lambda entry: entry == part)
            if part not in written:
                raise FileError(f"Cannot write {path}: the format wrote nothing of that name.")
            for file in Path(folder).rglob("*"):
                if file.is_file():
                    with file.open("rb+") as stream:
                        os.fsync(stream.fileno())
            for number, entry in enumerate(written):
                place = path.parent / entry.name
                if place.is_dir():  # a folder is never replaced by rename: it goes aside first
                    place.rename(Path(folder) / f".old-{number}")
                entry.replace(place)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"Cannot make the folder {path}: {error.strerror}.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

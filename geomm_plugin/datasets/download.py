"""[read] Download data sets: whole or not at all, going on where a download stopped.

A file arrives as NAME.part beside its place, and moves there when its length and its checksum are
as they should be. What the server says of the file's version (ETag, Last-Modified) is noted beside
the part: it goes on only with the same version. Runs that want the same file wait for each other,
and take what the first one brought. Checksums that are not in the catalog are those of
the first download, kept in checksums.json and checked from then on.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from geomm_plugin import progress
from geomm_plugin.datasets.catalog import RemoteFile, find_data_set
from geomm_plugin.errors import FileError, FormatError, ParameterError, missing_extra
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import as_file_error, atomic_file, check_writable
from geomm_plugin.files.lock import locked
from geomm_plugin.files.outputs import make_folders
from geomm_plugin.files.trust import is_own

CHECKSUMS = "checksums.json"
AT_ONCE = 2**20  # bytes
TIMEOUT = 60  # seconds without a byte
ATTEMPTS = 3  # of a download that is cut off, before the user has to start it again
_DAMAGED = (  # what archives raise that are damaged, encrypted or packed in unknown ways
    KeyError,
    EOFError,
    RuntimeError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
)


class _RefusedError(FileError):
    """The server is there, and does not give the file."""


@dataclass(frozen=True)
class Fetched:
    """A file that is there now."""

    path: Path
    size: int  # bytes
    is_new: bool  # or it was there, and is as it was


def fetch(
    name: str,
    parts: Sequence[str] = (),
    *,
    folder: str | Path | None = None,
    mirror: str | None = None,
) -> list[Fetched]:
    """Download a data set; what is there already is checked and not downloaded again.

    A file that the server does not have is an error after all others have arrived.

    Parameters
    ----------
    parts
        Languages, or pairs such as "en-es", as the data set has them.
    folder
        Where the files go; by default the system's folder for caches.
    mirror
        A server that has the files under the same paths, e.g. "http://127.0.0.1:8000"; by default
        what the environment variable GEOMM_MIRROR says, or else each file's own server.
    """
    files = find_data_set(name).wanted(parts)
    place = default_folder() if folder is None else Path(folder)
    mirror = mirror or os.environ.get("GEOMM_MIRROR")
    make_folders(place)
    check_writable(place)
    fetched, refused = [], []
    for file in files:
        try:
            fetched.append(_fetch_file(file, place, mirror))
        except _RefusedError as error:  # one that the server does not have; the others may be there
            refused.append(str(error))
            continue
        for member, path in file.members.items():
            if not (place / path).exists():
                _unpack(place / file.path, member, place / path)
    if refused:
        raise FileError(
            f"{'; '.join(refused)}. Check the name of the language or pair; `geomm fetch --list` "
            f"says where each data set comes from. Files that are there: {len(fetched)} of "
            f"{len(files)}."
        )
    return fetched


def default_folder() -> Path:
    """Return the folder for data that can be fetched again."""
    return Path(_pooch().os_cache("geomm-plugin"))


def _fetch_file(file: RemoteFile, folder: Path, mirror: str | None) -> Fetched:
    path, url = folder / file.path, mirrored(file.url, mirror)
    if path.exists():
        return _present(file, folder)
    make_folders(path.parent)
    part = path.with_name(path.name + ".part")
    with as_file_error(part), _alone_at(part):
        return _present(file, folder) if path.exists() else _download(file, folder, url, part)


def _present(file: RemoteFile, folder: Path) -> Fetched:
    """Check a file that is there."""
    path, expected = folder / file.path, file.sha256 or _checksums(folder).get(file.path)
    actual = _sha256(path)
    if expected is not None and actual != expected:
        raise FileError(
            f"{path} is not what was fetched: its SHA-256 is {actual}, expected is {expected}. "
            "Delete it, and fetch it again."
        )
    _note_checksum(folder, file.path, actual)
    return Fetched(path, path.stat().st_size, False)


@contextmanager
def _alone_at(part: Path) -> Iterator[None]:
    """Make a part if there is none, and lock it; an empty one is removed at the end."""
    if part.is_symlink() or (part.exists() and not (part.is_file() and is_own(part))):
        raise FileError(f"{part} is in the way: a link, or of another user. Remove it.")
    with part.open("ab"):
        pass
    with locked(part):
        try:
            yield
        finally:
            if part.exists() and not part.stat().st_size:
                part.unlink()


def _download(file: RemoteFile, folder: Path, url: str, part: Path) -> Fetched:
    path, expected = folder / file.path, file.sha256 or _checksums(folder).get(file.path)
    for attempt in range(ATTEMPTS):
        if _receive(url, part, last=attempt == ATTEMPTS - 1):
            break
    actual = _sha256(part)
    if expected is not None and actual != expected:
        part.unlink()
        _version_of(part).unlink(missing_ok=True)
        whose, way_out = "the catalog's", ""
        if file.sha256 is None:
            whose = f"that of the first download ({CHECKSUMS})"
            way_out = f" To take what is there now, delete its line in {folder / CHECKSUMS}."
        raise FileError(
            f"{url} has the SHA-256 {actual}; {whose} is {expected}. It was damaged on the way or "
            f"has changed; nothing was kept. Try again, or another --mirror.{way_out}"
        )
    part.replace(path)
    _version_of(part).unlink(missing_ok=True)
    _note_checksum(folder, file.path, actual)
    return Fetched(path, path.stat().st_size, True)


def mirrored(url: str, mirror: str | None) -> str:
    """Return the address of a file on a mirror, which has it under the same path."""
    if not mirror:
        return url
    if urlsplit(mirror).scheme not in ("http", "https"):
        raise ParameterError(f"A mirror is an address http://... or https://...; it is {mirror!r}.")
    return mirror.rstrip("/") + urlsplit(url).path


def _receive(url: str, part: Path, last: bool) -> bool:
    """Add to a part what is missing; return whether it is whole, and raise if it cannot be."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    size = part.stat().st_size if part.exists() else 0
    version = _version_of(part)
    noted = _noted_version(version)
    headers = {"Accept-Encoding": "identity", "User-Agent": "geomm-plugin"}
    if size and noted:
        headers |= {"Range": f"bytes={size}-", "If-Range": noted}
    received, total = size, None
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:
            begin = response.headers.get("Content-Range", f"bytes {size}-")
            if response.status != 206:  # the whole file, from the start
                size = 0
                _note_version(version, response.headers)
            elif not begin.startswith(f"bytes {size}-"):  # not what was asked for: start again
                os.truncate(part, 0)
                return False
            length = response.headers.get("Content-Length", "")
            total = size + int(length) if re.fullmatch("[0-9]{1,18}", length) else None
            received = _copy(response, part, size, total)
    except HTTPError as error:
        if error.code == 416:  # there is no more to get, or not of this version: start again
            os.truncate(part, 0)
            return False
        raise _RefusedError(f"{url} answers {error.code} ({error.reason})") from None
    except (HTTPException, TimeoutError, ConnectionResetError) as error:
        received, why = (part.stat().st_size if part.exists() else 0), str(error)
        total = received + 1 if total is None else total
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileError(
            f"Cannot reach {urlsplit(url).netloc}: {reason}. Check the connection, or name a "
            "server that has the files with --mirror URL."
        ) from None
    else:
        why = "the connection ended"
    if total is not None and received < total:
        if last:
            raise FileError(
                f"The download of {url} was cut off after {received} of {total} bytes ({why}). Run "
                "the same command again: it goes on from there."
            )
        return False
    return True


def _copy(response: IO[bytes], part: Path, size: int, total: int | None) -> int:
    """Append what comes to the first `size` bytes of a part; return its length."""
    with (
        progress.task(f"Fetching {part.name.removesuffix('.part')}", total=total) as advance,
        part.open("r+b" if part.exists() else "wb") as stream,
    ):
        stream.truncate(size)
        stream.seek(size)
        advance(size)
        while block := response.read(AT_ONCE):
            with as_file_error(part):  # a full disk is no matter of the connection
                stream.write(block)
            size += len(block)
            advance(len(block), note=f"{size / 1e6:.0f} MB")
        with as_file_error(part):
            stream.flush()
            os.fsync(stream.fileno())
    return size


def _version_of(part: Path) -> Path:
    return part.with_name(part.name + ".version")


def _note_version(path: Path, headers: Any) -> None:
    etag = headers.get("ETag")
    version = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    path.unlink(missing_ok=True)
    if version:
        path.write_bytes(version.encode())


def _noted_version(path: Path) -> str | None:
    """Read what the server said of a part's version, as far as it can be said to it again."""
    try:
        noted = path.read_bytes()[:1000].decode("ascii")
    except (OSError, UnicodeDecodeError):
        return None
    return noted if noted.isprintable() else None


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not path.exists():
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in dict(known).items()}
    except (ValueError, TypeError):
        raise FormatError(
            f"{path} is no list of checksums. Delete it; files are then checked from now on."
        ) from None


def _note_checksum(folder: Path, name: str, value: str) -> None:
    with locked(folder):  # another run may note another file's
        known = _checksums(folder)
        if known.get(name) != value:
            with atomic_file(folder / CHECKSUMS) as part:
                disk.write_file(part, json.dumps(known | {name: value}, indent=1).encode())


def _sha256(path: Path) -> str:
    return str(_pooch().file_hash(str(path), alg="sha256"))


def _unpack(archive: Path, member: str, path: Path) -> None:
    """Write one file of an archive to its place; nothing else is unpacked."""
    make_folders(path.parent)
    with atomic_file(path) as part, disk.create(part) as stream:
        try:
            for block in _blocks_of(archive, member):
                stream.write(block)
        except _DAMAGED as error:
            raise FormatError(
                f"{archive} has no file {member} that can be unpacked ({error}). Delete it and "
                "fetch it again."
            ) from None


def _blocks_of(archive: Path, member: str) -> Iterator[bytes]:
    """Go through the content of one file in an archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened, opened.open(member) as file:
            while block := file.read(AT_ONCE):
                yield block
        return
    with tarfile.open(archive) as tar:
        names = {name.removeprefix("./"): name for name in tar.getnames()}
        content, whole = tar.extractfile(names[member]), tar.fileobj
        while content and (block := content.read(AT_ONCE)):
            yield block
        while whole and whole.read(AT_ONCE):  # the checksum stands at the archive's end
            pass


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise missing_extra("geomm fetch", "data") from None
    return pooch

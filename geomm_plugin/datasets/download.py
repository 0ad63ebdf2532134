"""[read] Download data sets: whole or not at all, going on where a download stopped.

A file arrives as NAME.part beside its place, and moves there when its length and its checksum are
as they should be. What the server says of the file's version (ETag, Last-Modified) is noted beside
the part: it goes on only with the same version. Runs that write into the same folder wait for each
other, and take what the first one brought. Checksums that are not in the catalog are those of the
first download, kept in checksums.json and checked from then on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from geomm_plugin import progress
from geomm_plugin.datasets.catalog import RemoteFile, find_data_set
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import as_file_error, atomic_file, check_writable, locked
from geomm_plugin.files.outputs import make_folders
from geomm_plugin.files.trust import is_own, parse_json

CHECKSUMS = "checksums.json"
AT_ONCE = 2**20  # bytes
LARGEST_MEMBER = 2**27  # bytes that one file of an archive is unpacked to; dictionaries have few
LARGEST_LIST = 2**24  # bytes of checksums.json
TIMEOUT = 60  # seconds without a byte
ATTEMPTS = 3  # of a download that is cut off, before the user has to start it again
GO_ON = "Run the same command again: it goes on from there."


class _RefusedError(FileError):
    """The server is there, and does not give the file."""


class _CutOffError(FileError):
    """The file did not come whole; the next attempt may bring the rest."""


class _WrongPartError(_CutOffError):
    """What came does not belong to what is there; the next attempt begins anew."""


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
        Where the files go; by default ~/.cache/geomm-plugin, or that of XDG_CACHE_HOME.
    mirror
        A server that has the files under the same paths, e.g. "http://127.0.0.1:8000"; by default
        what the environment variable GEOMM_MIRROR says, or else each file's own server.
    """
    files = find_data_set(name).wanted(parts)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(caches, "geomm-plugin") if folder is None else Path(folder)
    mirror = mirror or os.environ.get("GEOMM_MIRROR")
    check_writable(place)
    fetched, refused = [], []
    with locked(place):
        for file in files:
            try:
                fetched.append(_fetch_file(file, place, mirror))
            except _RefusedError as error:  # the server may have the others
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


def mirrored(url: str, mirror: str | None) -> str:
    """Return the address of a file on a mirror, which has it under the same path."""
    if not mirror:
        return url
    if urlsplit(mirror).scheme not in ("http", "https"):
        raise ParameterError(f"A mirror is an address http://... or https://...; it is {mirror!r}.")
    return mirror.rstrip("/") + urlsplit(url).path


def _fetch_file(file: RemoteFile, folder: Path, mirror: str | None) -> Fetched:
    path, url = folder / file.path, mirrored(file.url, mirror)
    part = path.with_name(path.name + ".part")
    make_folders(path.parent)
    with as_file_error(path):
        is_new = not _is_file(path)
        if is_new:
            _download(url, part)
        known = _checksums(folder)
        kind, _, expected = (file.checksum or f"sha256:{known.get(file.path, '')}").partition(":")
        with (part if is_new else path).open("rb") as stream:
            actual = hashlib.file_digest(stream, kind).hexdigest()
        if expected and actual != expected:
            whose, way_out = "the catalog's", ""
            if not file.checksum:
                whose = "that of the first download"
                way_out = f" To take what is there now, delete its line in {folder / CHECKSUMS}."
            what, advice = str(path), "Delete it, and fetch it again."
            if is_new:
                what, advice = url, "Nothing was kept: try again, or another --mirror."
                _forget(part)
            raise FileError(
                f"{what} has the {kind.upper()} {actual}; {whose} is {expected}. It is damaged, or "
                f"has changed. {advice}{way_out}"
            )
        if is_new:
            part.replace(path)
            _forget(part)
        if not expected:
            with atomic_file(folder / CHECKSUMS) as new:
                disk.write_file(new, json.dumps(known | {file.path: actual}, indent=1).encode())
        return Fetched(path, path.stat().st_size, is_new)


def _is_file(path: Path, *, ours: bool = False) -> bool:
    """True if a file is there; what would block or lead elsewhere is refused.

    Parameters
    ----------
    ours
        Whether it is written to: then it is no link, has no second name and is this user's.
    """
    try:
        status = path.lstat() if ours else path.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(status.st_mode) or (ours and (status.st_nlink > 1 or not is_own(path))):
        raise FileError(
            f"{path} is in the way: a folder, a pipe, a link, or of another user. Remove it."
        )
    return True


def _download(url: str, part: Path) -> None:
    """Bring a part to its end, if need be in several attempts."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _receive(url, part)
        except _CutOffError as error:
            if isinstance(error, _WrongPartError):
                _forget(part)
            if attempt == ATTEMPTS:
                raise


def _receive(url: str, part: Path) -> None:
    """Add to a part what is missing."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    received = part.stat().st_size if _is_file(part, ours=True) else 0
    version = _noted_version(_version_of(part)) if received else None
    headers = {"Accept-Encoding": "identity", "User-Agent": "geomm-plugin"}
    if version:
        headers |= {"Range": f"bytes={received}-", "If-Range": version}
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:
            begin, total = _extent(url, response, received if version else 0)
            if not begin:
                _note_version(_version_of(part), response.headers)
            received = _copy(response, part, begin, total)
    except HTTPError as error:
        if error.code != 416:  # there is no more to get, or not of this version
            raise _RefusedError(f"{url} answers {error.code} ({error.reason})") from None
        raise _WrongPartError(f"{url} does not have what is missing. Try again.") from None
    except FileError:
        raise
    except (HTTPException, TimeoutError, ConnectionResetError) as error:
        raise _CutOffError(f"The download of {url} was cut off ({error}). {GO_ON}") from None
    except OSError as error:  # also URLError
        reason = getattr(error, "reason", None) or error
        raise FileError(
            f"Cannot reach {urlsplit(url).netloc}: {reason}. Check the connection, or name a "
            "server that has the files with --mirror URL."
        ) from None
    if total is not None and received > total:
        raise _WrongPartError(f"{url} sent {received} bytes, and says that it has {total}.")
    if total is not None and received < total:
        so_far = f"{received} of {total} bytes"
        raise _CutOffError(f"The download of {url} was cut off after {so_far}. {GO_ON}")
    if not received:
        _forget(part)
        raise _RefusedError(f"{url} answers with an empty file")


def _extent(url: str, response: Any, begin: int) -> tuple[int, int | None]:
    """Return where an answer begins in the file, and the file's length; refuse what is no file.

    Parameters
    ----------
    begin
        Where the part begins that was asked for; 0 for the whole file.
    """
    status, headers = response.status, response.headers
    coding = headers.get("Content-Encoding", "identity")
    if urlsplit(url).scheme == "https" != urlsplit(response.url).scheme:
        raise _RefusedError(f"{url} leads to {response.url}, which is not https")
    if coding.lower() != "identity":
        raise _RefusedError(f"{url} answers in the encoding {coding}, which nobody asked for")
    if status == 200:
        return 0, response.length
    if status != 206 or not begin:
        raise _RefusedError(f"{url} answers {status} ({response.reason}) instead of the whole file")
    shown = str(headers.get("Content-Range", ""))
    asked = re.fullmatch(rf"bytes {begin}-[0-9]{{1,18}}/([0-9]{{1,18}}|\*)", shown)
    if asked is None:
        raise _WrongPartError(f"{url} sent another part than was asked for ({shown}). Try again.")
    if asked[1] != "*":
        return begin, int(asked[1])
    return begin, None if response.length is None else begin + response.length


def _copy(response: IO[bytes], part: Path, size: int, total: int | None) -> int:
    """Append what comes to the first `size` bytes of a part; return its length."""
    with (
        progress.task(f"Fetching {part.name.removesuffix('.part')}", total=total) as advance,
        part.open("ab" if size else "wb") as stream,
    ):
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


def _forget(part: Path) -> None:
    """Remove a part, so that the download begins anew."""
    for path in (part, _version_of(part)):
        path.unlink(missing_ok=True)


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
    noted = path.read_bytes()[:1000] if _is_file(path, ours=True) else b""
    text = noted.decode("ascii", "replace")
    return text if text.isascii() and text.isprintable() else None


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    if not _is_file(path):
        return {}
    try:
        with path.open("rb") as stream:
            known = parse_json(stream.read(LARGEST_LIST))
        return {str(name): str(value) for name, value in dict(known).items()}
    except (ValueError, TypeError):
        raise FormatError(
            f"{path} is no list of checksums. Delete it; files are then checked from now on."
        ) from None


def _unpack(archive: Path, member: str, path: Path, largest: int = LARGEST_MEMBER) -> None:
    """Write one file of an archive to its place; nothing else is unpacked, and a link is no file.

    Parameters
    ----------
    largest
        How many bytes it may have.
    """
    opened: Any
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened:
                is_file = not stat.S_ISLNK(opened.getinfo(member).external_attr >> 16)
                with opened.open(member) as stream:
                    content = stream.read(largest + 1)
        else:
            with tarfile.open(archive) as opened:
                entry = {each.name.removeprefix("./"): each for each in opened}[member]
                is_file = entry.isreg()
                content = opened.extractfile(entry).read(largest + 1) if is_file else b""
                while opened.fileobj.read(AT_ONCE):
                    pass  # the checksum stands at the archive's end
        if not is_file:
            raise ValueError("it is a link")
        if len(content) > largest:
            raise ValueError(f"it does not end after {largest} bytes")
    except Exception as error:  # damaged, encrypted, packed in unknown ways, ...
        raise FormatError(
            f"{archive} has no file {member} that can be unpacked ({error}). Delete it and fetch "
            "it again."
        ) from None
    make_folders(path.parent)
    with atomic_file(path) as part:
        disk.write_file(part, content)

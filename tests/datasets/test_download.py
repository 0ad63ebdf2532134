"""Downloads from a server on loopback: whole, cut off, damaged, missing, and no server at all."""

import errno
import hashlib
import io
import json
import os
import socket
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin.cli import group
from geomm_plugin.datasets import download
from geomm_plugin.datasets.catalog import data_sets, find_data_set
from geomm_plugin.datasets.download import fetch, mirrored
from geomm_plugin.errors import FileError, FormatError, MissingExtraError, ParameterError

pytest.importorskip("pooch")
PATH = "/fasttext/vectors-wiki/wiki.es.vec"
CONTENT = bytes(range(256)) * 4000


class Server:
    """Files by path; `cut` bytes of each answer are sent before the connection ends."""

    def __init__(self):
        self.files, self.cut, self.etag = {}, [], "v1"
        self.length = self.content_range = None  # what it says of these, if it is wrong
        self.requests = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                owner.answer(self)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.requests.append((request.path, asked))
        content = self.files.get(request.path)
        if content is None:
            request.send_error(404)
            return
        same = request.headers.get("If-Range", "") == f'"{self.etag}"'
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and same else 0
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", self.length or str(len(content) - start))
        if start:
            request.send_header("Content-Range", self.content_range or f"bytes {start}-")
        request.send_header("ETag", f'"{self.etag}"')
        request.end_headers()
        request.wfile.write(content[start : start + self.cut.pop(0) if self.cut else None])

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("GEOMM_MIRROR", raising=False)
    found = Server()
    found.files[PATH] = CONTENT
    yield found
    found.close()


def get(server, folder):
    (found,) = fetch("wiki", ["es"], folder=folder, mirror=server.url)
    return found


def test_a_whole_file_arrives_and_is_not_fetched_twice(server, tmp_path):
    found = get(server, tmp_path)
    assert found.path == tmp_path / "wiki" / "wiki.es.vec" and found.is_new
    assert found.path.read_bytes() == CONTENT and found.size == len(CONTENT)
    assert not get(server, tmp_path).is_new and len(server.requests) == 1
    assert [path.name for path in found.path.parent.iterdir()] == ["wiki.es.vec"]
    noted = json.loads((tmp_path / "checksums.json").read_text())
    assert noted == {"wiki/wiki.es.vec": hashlib.sha256(CONTENT).hexdigest()}


def test_a_download_that_is_cut_off_goes_on_by_itself(server, tmp_path):
    server.cut = [300_000, 200_000]
    assert get(server, tmp_path).path.read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == [None, "bytes=300000-", "bytes=500000-"]


def test_after_too_many_cuts_the_next_run_goes_on(server, tmp_path):
    server.cut = [100_000] * 3
    with pytest.raises(FileError, match=r"cut off after 300000 of 1024000 bytes .*goes on from"):
        get(server, tmp_path)
    assert not (tmp_path / "wiki" / "wiki.es.vec").exists()
    assert get(server, tmp_path).path.read_bytes() == CONTENT
    assert server.requests[-1] == (PATH, "bytes=300000-")


def test_another_version_is_fetched_from_the_start(server, tmp_path):
    server.cut = [100_000] * 3
    with pytest.raises(FileError, match="cut off"):
        get(server, tmp_path)
    server.etag, server.files[PATH] = "v2", CONTENT[::-1]
    assert get(server, tmp_path).path.read_bytes() == CONTENT[::-1]


def test_a_checksum_of_the_first_download_is_checked_from_then_on(server, tmp_path):
    path = get(server, tmp_path).path
    path.unlink()
    server.files[PATH] = CONTENT[::-1]
    with pytest.raises(FileError, match=r"first download .*nothing was kept.*delete its line in"):
        get(server, tmp_path)
    assert not [left for left in path.parent.iterdir() if left.name.startswith(path.name)]
    path.write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"is not what was fetched.*Delete it"):
        get(server, tmp_path)


def test_a_checksum_of_the_catalog_is_checked_at_once(server, tmp_path, monkeypatch):
    file = download.RemoteFile("https://elsewhere.org" + PATH, "x.vec", sha256="0" * 64)
    with pytest.raises(FileError, match="the catalog's is 000"):
        download._fetch_file(file, tmp_path, server.url)
    assert not (tmp_path / "x.vec").exists()


def test_a_file_that_is_not_there_is_named(server, tmp_path):
    with pytest.raises(FileError, match=r"wiki.xx.vec answers 404 \(Not Found\). Check the name"):
        fetch("wiki", ["xx"], folder=tmp_path, mirror=server.url)


def test_files_after_one_that_is_not_there_arrive(server, tmp_path):
    with pytest.raises(FileError, match=r"wiki.xx.vec answers 404.*there: 1 of 2"):
        fetch("wiki", ["xx", "es"], folder=tmp_path, mirror=server.url)
    assert (tmp_path / "wiki/wiki.es.vec").exists()


def test_no_server_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("GEOMM_MIRROR", f"http://127.0.0.1:{port}")
    with pytest.raises(FileError, match=rf"Cannot reach 127.0.0.1:{port}: .*--mirror URL"):
        fetch("wiki", ["es"], folder=tmp_path)


def test_archives_are_unpacked_by_name(server, tmp_path):
    (file,) = find_data_set("analogies").files
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word2vec/trunk/questions-words.txt", ": s\na b c d\n")
        archive.writestr("../outside.txt", "no")
    address = mirrored(file.url, server.url).removeprefix(server.url)
    server.files[address] = packed.getvalue()
    fetch("analogies", folder=tmp_path / "in", mirror=server.url)
    assert (tmp_path / "in/analogies/questions-words.txt").read_text() == ": s\na b c d\n"
    assert not (tmp_path / "outside.txt").exists()
    server.files[address] = b"no archive"
    with pytest.raises(FormatError, match="Delete it and fetch"):
        fetch("analogies", folder=tmp_path / "other", mirror=server.url)


def tar_of(name, content, mode):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("damage", range(9))
def test_damaged_archives_are_a_sentence(tmp_path, damage):
    content = np.random.default_rng(0).bytes(9000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.txt", content)
    whole = {".zip": packed.getvalue(), ".tgz": tar_of("x.txt", content, "w:gz")}
    whole |= {".txz": tar_of("x.txt", content, "w:xz"), ".tbz": tar_of("x.txt", content, "w:bz2")}
    for suffix, good in whole.items():
        bad = bytearray(good)
        if damage < 8:
            bad[len(bad) * (damage + 1) // 10] ^= 0xFF
        else:
            bad[6 if suffix == ".zip" else -1] |= 1  # encrypted, it says
        (tmp_path / f"a{suffix}").write_bytes(bad)
        target = tmp_path / f"{suffix[1:]}.txt"
        with suppress(FormatError):
            download._unpack(tmp_path / f"a{suffix}", "x.txt", target)
            assert target.read_bytes() == content
        (tmp_path / f"b{suffix}").write_bytes(good)
        download._unpack(tmp_path / f"b{suffix}", "x.txt", target)
        assert target.read_bytes() == content


def test_runs_that_want_the_same_file_wait_for_each_other(server, tmp_path):
    server.files[PATH] = CONTENT * 20
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: get(server, tmp_path), range(4)))
    assert len(server.requests) == 1 and sum(file.is_new for file in found) == 1
    assert found[0].path.read_bytes() == server.files[PATH]
    assert not [path for path in tmp_path.rglob("*") if ".part" in path.name]


def test_a_server_that_sends_another_part_does_not_spoil_the_file(server, tmp_path):
    server.cut = [5000] * 3
    with pytest.raises(FileError, match="was cut off"):
        get(server, tmp_path)
    server.content_range = "bytes 17-"
    assert get(server, tmp_path).path.read_bytes() == CONTENT
    assert server.requests[-1][1] is None  # from the start


@pytest.mark.parametrize("header", ["many", "-1", "9" * 30, "\u0661"])
def test_odd_headers_do_not_end_the_program(server, tmp_path, header):
    server.length = header
    server.etag = "\xe4\xff"
    with suppress(FileError):  # more may follow than it said
        assert get(server, tmp_path).path.read_bytes() == CONTENT
    part = tmp_path / "wiki" / "wiki.es.vec.part"
    server.length = None
    for noted in (b"x\ny: z", b"\xff", b"\0"):
        for path in tmp_path.rglob("wiki.es.vec"):
            path.unlink()
        part.write_bytes(CONTENT[:100])
        Path(f"{part}.version").write_bytes(noted)
        assert get(server, tmp_path).path.read_bytes() == CONTENT


def test_a_link_in_the_place_of_a_part_is_not_followed(server, tmp_path):
    (tmp_path / "mine").write_text("mine")
    part = tmp_path / "data" / "wiki" / "wiki.es.vec.part"
    part.parent.mkdir(parents=True)
    part.symlink_to(tmp_path / "mine")
    with pytest.raises(FileError, match="is in the way"):
        get(server, tmp_path / "data")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_full_disk_is_not_told_as_a_lost_connection(server, tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"Cannot write .*: No space left on device"):
        get(server, tmp_path)


def test_mirrors_have_the_same_paths():
    url = "https://dl.fbaipublicfiles.com" + PATH
    assert mirrored(url, None) == url
    assert mirrored(url, "http://127.0.0.1:8000/") == "http://127.0.0.1:8000" + PATH
    with pytest.raises(ParameterError, match="A mirror is an address"):
        mirrored(url, "127.0.0.1:8000")


def test_without_pooch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"geomm-plugin\[data\]"):
        download.default_folder()


def test_the_command_says_what_came(server, tmp_path):
    arguments = ["fetch", "wiki", "es", "--folder", str(tmp_path), "--mirror", server.url]
    for state in ("new", "was there, and is whole"):
        done = CliRunner().invoke(group, arguments)
        assert done.exit_code == 0 and f"wiki.es.vec  1.0 MB  {state}\n" in done.output
    assert CliRunner().invoke(group, [*arguments, "-q"]).output == ""
    missing = CliRunner().invoke(group, ["fetch", "wiki", "xx", *arguments[3:]])
    assert missing.exit_code == 2 and "answers 404" in missing.stderr
    listed = CliRunner().invoke(group, ["fetch", "--list"]).output
    for name, found in data_sets().items():
        assert (
            f"geomm fetch {name}" in listed and found.licence in listed and found.origin in listed
        )

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
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.files import disk

PATH = "/fasttext/vectors-wiki/wiki.es.vec"
CONTENT = bytes(range(256)) * 4000


class Server:
    """Files by path; `cut` bytes of each answer are sent before the connection ends."""

    def __init__(self):
        self.files, self.cut, self.etag = {}, [], "v1"
        self.length = self.content_range = self.status = None  # what it says, if it is wrong
        self.encoding = None
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
        request.send_response(self.status or (206 if start else 200))
        request.send_header("Content-Length", self.length or str(len(content) - start))
        if self.encoding:
            request.send_header("Content-Encoding", self.encoding)
        if start or self.content_range:
            whole = f"bytes {start}-{len(content) - 1}/{len(content)}"
            request.send_header("Content-Range", self.content_range or whole)
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
    with pytest.raises(FileError, match=r"cut off after 300000 of 1024000 bytes. .*goes on from"):
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
    with pytest.raises(FileError, match=r"first download .*Nothing was kept.*delete its line in"):
        get(server, tmp_path)
    assert not [left for left in path.parent.iterdir() if left.name.startswith(path.name)]
    path.write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"wiki.es.vec has the SHA256 .* changed. Delete it"):
        get(server, tmp_path)


def test_a_checksum_of_the_catalog_is_checked_at_once(server, tmp_path, monkeypatch):
    for kind in ("sha256", "sha1"):
        right = hashlib.new(kind, CONTENT).hexdigest()
        for checksum in ("0" * len(right), right):
            url, path = "https://elsewhere.org" + PATH, f"{kind}/x.vec"
            file = download.RemoteFile(url, path, checksum=f"{kind}:{checksum}")
            if checksum == right:
                assert download._fetch_file(file, tmp_path, server.url).is_new
                continue
            with pytest.raises(FileError, match=f"has the {kind.upper()} .*the catalog's is 000"):
                download._fetch_file(file, tmp_path, server.url)
            assert not (tmp_path / path).exists()


def test_files_after_one_that_is_not_there_arrive(server, tmp_path):
    match = r"wiki.xx.vec answers 404 \(Not Found\). Check the name.*there: 1 of 2"
    with pytest.raises(FileError, match=match):
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


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_link_in_the_place_of_a_part_is_not_written_through(server, tmp_path, link):
    (tmp_path / "mine").write_text("mine")
    part = tmp_path / "data" / "wiki" / "wiki.es.vec.part"
    part.parent.mkdir(parents=True)
    link(part, tmp_path / "mine")
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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"status": 206, "content_range": "bytes 0-99/1024000"}, "answers 206"),
        ({"status": 206}, "answers 206"),
        ({"status": 204, "length": "0"}, "answers 204"),
        ({"encoding": "gzip"}, "in the encoding gzip, which nobody asked for"),
        ({"files": {PATH: b""}}, "answers with an empty file"),
    ],
)
def test_what_is_not_the_file_is_refused_and_not_noted(server, tmp_path, change, sentence):
    before = vars(server).copy()
    vars(server).update(change)
    with pytest.raises(FileError, match=sentence):
        get(server, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    vars(server).update({name: before[name] for name in change})
    assert get(server, tmp_path).path.read_bytes() == CONTENT


@pytest.mark.parametrize("total", [900_000, 2_000_000])
def test_the_total_of_a_part_is_compared(server, tmp_path, total):
    server.cut = [300_000]
    server.content_range = f"bytes 300000-{total - 1}/{total}"
    with suppress(FileError):
        assert get(server, tmp_path).path.read_bytes() == CONTENT  # fetched again, as a whole
    assert len(server.requests) > 2
    server.content_range = None
    assert get(server, tmp_path).path.read_bytes() == CONTENT


def test_no_answer_leads_from_https_to_http():
    class Answer:
        status, reason, headers, length, url = 200, "OK", {}, None, "http://elsewhere.org/x"

    with pytest.raises(FileError, match="leads to http://elsewhere.org/x, which is not https"):
        download._extent("https://here.org/x", Answer, 0)
    assert download._extent("http://here.org/x", Answer, 0) == (0, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize(
    "name",
    [
        "checksums.json",
        "wiki/wiki.es.vec",
        "wiki/wiki.es.vec.part",
        "wiki/wiki.es.vec.part.version",
    ],
)
def test_a_pipe_in_the_way_is_refused(server, tmp_path, name):
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki/wiki.es.vec.part").write_bytes(CONTENT[:100])
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileError, match="is in the way"):
        get(server, tmp_path)


def test_a_part_of_another_user_is_not_added_to(server, tmp_path, monkeypatch):
    part = tmp_path / "wiki" / "wiki.es.vec.part"
    part.parent.mkdir()
    part.write_bytes(b"theirs")
    owner_of = disk.owner_of
    monkeypatch.setattr(disk, "owner_of", lambda path: owner_of(path) + (path == part))
    with pytest.raises(FileError, match="of another user"):
        get(server, tmp_path)
    assert part.read_bytes() == b"theirs"


@pytest.mark.parametrize("text", ["[" * 200_000, "[1]", "{", '{"a": {}, "a": {}}', "\0"])
def test_a_list_of_checksums_that_is_none_is_a_sentence(server, tmp_path, text):
    (tmp_path / "checksums.json").write_text(text)
    with pytest.raises(FormatError, match="is no list of checksums. Delete it"):
        get(server, tmp_path)


def test_links_and_endless_files_are_not_unpacked(tmp_path):
    for suffix in (".zip", ".tgz"):
        archive = tmp_path / f"a{suffix}"
        if suffix == ".zip":
            with zipfile.ZipFile(archive, "w") as opened:
                link = zipfile.ZipInfo("link")
                link.external_attr = 0o120777 << 16
                opened.writestr(link, "large")
                opened.writestr("large", b"0" * 1001)
                opened.writestr("whole", b"0" * 1000)
        else:
            with tarfile.open(archive, "w:gz") as opened:
                for name, size in (("large", 1001), ("whole", 1000), ("link", 0), ("hard", 0)):
                    entry = tarfile.TarInfo(name)
                    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE}
                    entry.type, entry.linkname = kinds.get(name, tarfile.REGTYPE), "large"
                    entry.size = size
                    opened.addfile(entry, io.BytesIO(b"0" * size))
        download._unpack(archive, "whole", tmp_path / "whole", largest=1000)
        assert (tmp_path / "whole").stat().st_size == 1000
        for name in ("link", "large", *(["hard"] if suffix == ".tgz" else [])):
            with pytest.raises(FormatError, match="that can be unpacked"):
                download._unpack(archive, name, tmp_path / name, largest=1000)
            assert not (tmp_path / name).exists()


def test_the_folder_is_that_of_caches_by_default(server, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for folder, variable in ((".cache", ""), ("mine", str(tmp_path / "mine"))):
        monkeypatch.setenv("XDG_CACHE_HOME", variable)
        (found,) = fetch("wiki", ["es"], mirror=server.url)
        assert found.path == tmp_path / folder / "geomm-plugin" / "wiki" / "wiki.es.vec"


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

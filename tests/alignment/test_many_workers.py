"""align() by any workers: the same bytes, also where one of them is killed, and nothing left."""

import itertools
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest

from geomm_plugin import Embeddings, align, write_embeddings
from geomm_plugin.alignment import run as run_module
from geomm_plugin.alignment.record import UNFINISHED
from geomm_plugin.errors import FileError, FormatError, UnknownNameError, WorkError
from geomm_plugin.testing import make_toy

WORDS = 20_000  # more than two blocks of rows
PAIRS = {("en", "es"): [(f"en{n}", f"es{n}") for n in range(0, 3000, 7)]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    random = np.random.default_rng(0)
    cloud = random.standard_normal((WORDS, 12))
    for language in ("en", "es"):
        turned = cloud @ np.linalg.qr(random.standard_normal((12, 12)))[0]
        embeddings = Embeddings([f"{language}{n}" for n in range(WORDS)], turned.astype("f4"))
        write_embeddings(embeddings, folder / f"{language}.vec", format="vec")
        write_embeddings(embeddings, folder / f"{language}.vec.gz")
        write_embeddings(embeddings, folder / f"{language}.npy")
    return folder


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run(files, output, suffix=".vec", **options):
    paths = {language: files / f"{language}{suffix}" for language in ("en", "es")}
    align(paths, PAIRS, "geomm", output=output, **options)
    assert not (output / UNFINISHED).exists()
    return contents(output)


@pytest.fixture(scope="module")
def whole(files, tmp_path_factory):
    """What one job writes."""
    return run(files, tmp_path_factory.mktemp("whole") / "out")


@pytest.mark.parametrize("suffix", [".vec", ".vec.gz", ".npy"])
def test_processes_and_threads_write_the_same_bytes(files, tmp_path, suffix):
    one = run(files, tmp_path / "one", suffix)
    assert run(files, tmp_path / "two", suffix, jobs=2) == one
    with joblib.parallel_config("threading", n_jobs=3):
        assert run(files, tmp_path / "threads", suffix) == one


@pytest.mark.parametrize("suffix", [".vec.gz", ".glove", ".safetensors", ".npy"])
def test_every_form_of_output_is_the_same(files, tmp_path, suffix):
    parts = {"max_words": 9000, "keep_length": True, "normalize": ("center", "unitdim")}
    normalize = f"normalize={','.join(parts.pop('normalize'))}"
    for jobs in (1, 2):
        align(
            {language: files / f"{language}.vec" for language in ("en", "es")},
            PAIRS,
            "procrustes",
            output=tmp_path / str(jobs),
            suffix=suffix,
            settings=[normalize],
            jobs=jobs,
            **parts,
        )
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_cluster_writes_the_same_bytes(files, tmp_path, whole, dask_cluster, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the workers are elsewhere
    here = Path(os.path.relpath(files))
    assert run(here, Path("out"), cluster=dask_cluster) == whole


def test_objects_are_given_to_workers_too(files, tmp_path):
    from geomm_plugin import read_embeddings

    given = {language: read_embeddings(files / f"{language}.vec") for language in ("en", "es")}
    for jobs in (1, 2):
        align(given, PAIRS, "geomm", output=tmp_path / str(jobs), jobs=jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def kill_one(folder, processes):
    """Kill a worker as soon as there is a file on the way."""
    killed = []

    def wait_and_kill():
        while not any((folder / UNFINISHED / "scratch").glob("*")) or not (found := processes()):
            time.sleep(0.01)
        killed.append(found[0])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread, killed


def test_a_worker_of_a_cluster_that_is_killed_costs_nothing(files, tmp_path, whole, dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        workers = list(client.run(os.getpid).values())
        thread, killed = kill_one(tmp_path / "out", lambda: workers)
        assert run(files, tmp_path / "out", cluster=client) == whole
        thread.join()
        client.wait_for_workers(2)
        assert killed[0] not in client.run(os.getpid).values()


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about processes")
def test_a_process_that_is_killed_costs_nothing(files, tmp_path, whole):
    def children():
        tasks = Path("/proc/self/task").iterdir()
        pids = [pid for task in tasks for pid in (task / "children").read_text().split()]
        command = "popen_loky_posix"
        return [int(p) for p in pids if command in Path(f"/proc/{p}/cmdline").read_text()]

    thread, killed = kill_one(tmp_path / "out", children)
    assert run(files, tmp_path / "out", jobs=2) == whole
    thread.join()
    assert killed


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_fails_leaves_no_scratch(files, tmp_path, jobs):
    lines = (files / "es.vec").read_bytes().splitlines(keepends=True)
    lines[15_000] = b"es 1 2 three\n"
    (tmp_path / "es.vec").write_bytes(b"".join(lines))
    paths = {"en": files / "en.vec", "es": tmp_path / "es.vec"}
    with pytest.raises(FormatError, match=r"es\.vec, line 15001: expected 12 numbers"):
        align(paths, PAIRS, output=tmp_path / "out", jobs=jobs)
    assert list((tmp_path / "out").iterdir()) == []
    align(paths, PAIRS, output=tmp_path / "out", max_words=14_999, jobs=jobs)
    first = (tmp_path / "out" / "es.vec").read_bytes()
    assert first.startswith(b"14999 12\n")


@pytest.mark.parametrize("jobs", [1, 2])
def test_odd_files_are_read_as_they_are_from_the_beginning(files, tmp_path, jobs):
    from geomm_plugin import read_embeddings

    lines = (files / "es.vec").read_bytes().splitlines(keepends=True)[1:]
    lines[9_000] = lines[40]  # a word that repeats
    lines[12_000] = b"\n"
    lines[13_000] = lines[13_000].replace(b"\n", b" \r\n")
    (tmp_path / "es.vec").write_bytes(b"\xef\xbb\xbf" + b"".join(lines).removesuffix(b"\n"))
    for max_words in (None, 8_999, 9_000, 9_001, 11_998):
        output = tmp_path / f"out-{max_words}"
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            align(
                {"en": files / "en.vec", "es": tmp_path / "es.vec"},
                PAIRS,
                "procrustes",
                output=output,
                max_words=max_words,
                jobs=jobs,
            )
            messages = {str(warning.message) for warning in warned}
            whole = read_embeddings(tmp_path / "es.vec", max_words=max_words)
        aligned = read_embeddings(output / "es.vec")
        assert aligned.words == whole.words
        assert messages == {str(w.message) for w in warned if "repeat" in str(w.message)}
        assert len(messages) == (max_words is None or max_words > 9_000)


def test_identical_words_and_extra_words(files, tmp_path):
    paths = {"en": files / "en.vec", "es": files / "en.vec.gz"}
    written = []
    for jobs in (1, 2):
        output = tmp_path / str(jobs)
        extra = {"en": ["en5"]}
        align(paths, {}, identical=[("en", "es")], output=output, extra_words=extra, jobs=jobs)
        written.append(contents(output))
        with pytest.raises(UnknownNameError, match="extra_words of es: The word 'unheard'"):
            align(
                paths, {}, identical=[("en", "es")], output=output, extra_words={"es": ["unheard"]}
            )
    assert written[0] == written[1]


def test_a_cluster_that_is_not_there_is_a_sentence_before_anything_is_written(
    files, tmp_path, monkeypatch
):
    pytest.importorskip("distributed")
    monkeypatch.setattr("geomm_plugin.work.CONNECT_SECONDS", 0.5)
    with pytest.raises(WorkError, match="No Dask scheduler answers at tcp://127.0.0.1:1"):
        run(files, tmp_path / "out", cluster="tcp://127.0.0.1:1")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_input_that_is_replaced_after_it_was_hashed_is_a_sentence(files, tmp_path, monkeypatch):
    for name in ("en.vec", "es.vec"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    paths = {language: tmp_path / f"{language}.vec" for language in ("en", "es")}
    hashes_of = run_module.hashes_of

    def hash_and_replace(*arguments):
        hashes = hashes_of(*arguments)
        (tmp_path / "new.vec").write_bytes((files / "es.vec").read_bytes())
        (tmp_path / "new.vec").replace(tmp_path / "es.vec")
        return hashes

    monkeypatch.setattr(run_module, "hashes_of", hash_and_replace)
    with pytest.raises(FileError, match="replaced while it was in use"):
        align(paths, PAIRS, output=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_rows_of_words_that_repeat_leave_no_gap(files, tmp_path):
    lines = (files / "es.vec").read_bytes().splitlines(keepends=True)
    for row in (40, 41, 3000, 3002, 9000, 15_000, 19_999):
        lines[row] = lines[row - 30]
    (tmp_path / "es.vec").write_bytes(b"".join(lines))
    written = {}
    for jobs, max_words in itertools.product((1, 2), (None, 12_000)):
        output = tmp_path / f"{jobs}-{max_words}"
        with pytest.warns(UserWarning, match="repeat"):
            align(
                {"en": files / "en.vec", "es": tmp_path / "es.vec"},
                PAIRS,
                output=output,
                max_words=max_words,
                jobs=jobs,
            )
        written[jobs, max_words] = (output / "es.vec").read_bytes()
    assert written[1, None] == written[2, None] != written[2, 12_000] == written[1, 12_000]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_part_that_cannot_be_written_ends_the_run(tmp_path, jobs):
    words = [f"w{n}" for n in range(40_000)]  # five blocks of rows
    vectors = np.random.default_rng(0).standard_normal((len(words), 4)).astype("f4")
    words[9000] = "two\nlines"
    embeddings = {"en": Embeddings(words, vectors), "es": Embeddings(words, vectors)}
    pairs = {("en", "es"): [(word, word) for word in words[:50]]}
    with pytest.raises(FormatError, match="holds a line break"):
        align(embeddings, pairs, output=tmp_path / "out", jobs=jobs)
    assert not (tmp_path / "out" / UNFINISHED / "scratch").exists()


def test_a_name_may_hold_braces(tmp_path):
    toy = make_toy(("{0}", "{es}"))
    output = tmp_path / "out"
    align(toy.embeddings, toy.dictionaries, "procrustes", output=output, jobs=2)
    assert sorted(path.name for path in output.glob("*.vec")) == ["{0}.vec", "{es}.vec"]

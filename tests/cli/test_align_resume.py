"""`geomm align --resume`: what is written and still fits is kept, all else is written again."""

import errno
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from geomm_adapters import FastTextVec
from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.alignment.record import UNFINISHED
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import Toy, make_toy

FILES = ["en.vec", "es.vec", "it.vec"]
WRITTEN = ["README.md", "align.json", *FILES, "mapper"]


@pytest.fixture
def align(geomm, write_toy, tmp_path):
    """Run an align of three languages with further arguments; return what it says."""
    line = ["align", *write_toy(languages=("en", "es", "it")), "-m", "procrustes", "-o", "out"]
    return lambda *further, status=0: geomm(*line, *further, status=status).output


def said(output, word):
    """Return the names that the summary says were kept or written."""
    lines = [line.split()[1] for line in output.splitlines() if line.startswith(word)]
    return [line.rpartition("/")[2] for line in lines]


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_without_anything_there_it_is_a_plain_run(align, tmp_path):
    assert said(align("--resume"), "Wrote") == [*FILES, "mapper"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == WRITTEN


def test_what_fits_is_kept_and_nothing_is_read_or_fitted(align, tmp_path, monkeypatch):
    first = align()
    before = contents(tmp_path / "out")
    monkeypatch.setattr("geomm_plugin.alignment.inputs.read_embeddings", None)
    monkeypatch.setattr(Procrustes, "learn", None)
    again = align("--resume")
    assert said(again, "Kept") == [*FILES, "mapper"] and said(again, "Wrote") == []
    assert contents(tmp_path / "out") == before
    assert first.splitlines()[:2] == again.splitlines()[:2]  # the same pairs are told


@pytest.fixture
def stopped(align, monkeypatch):
    """Run an align that is stopped in the midst of its second file."""

    def run(*further, error=KeyboardInterrupt, status=130):
        with monkeypatch.context() as patched:
            write = FastTextVec.write

            def stopping(self, path, embeddings):
                write(self, path, embeddings)
                if path.name == "es.vec":
                    raise error

            patched.setattr(FastTextVec, "write", stopping)
            align(*further, status=status)

    return run


STOPS = {
    "Ctrl-C": (KeyboardInterrupt, 130),
    "SIGTERM": (SystemExit(143), 143),
    "full disk": (OSError(errno.ENOSPC, "No space left on device"), 2),
    "odd word": (FormatError("No."), 2),
}


@pytest.mark.parametrize(("error", "status"), STOPS.values(), ids=STOPS)
def test_a_run_that_was_stopped_goes_on_with_its_mapper(
    align, stopped, tmp_path, monkeypatch, error, status
):
    align()
    whole = contents(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    stopped(error=error, status=status)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [UNFINISHED]
    monkeypatch.setattr(Procrustes, "learn", None)
    output = align("--resume")
    assert said(output, "Kept") == ["en.vec", "mapper"]
    assert said(output, "Wrote") == ["es.vec", "it.vec"]
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize(("error", "status"), STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("mapper", ["cca", "procrustes"])
def test_a_stopped_run_leaves_what_it_would_replace(
    align, stopped, tmp_path, mapper, error, status
):
    align("-m", "cca")
    whole = contents(tmp_path / "out")
    align()
    before = contents(tmp_path / "out")
    stopped("-m", "cca", error=error, status=status)
    left = contents(tmp_path / "out")
    assert before.items() <= left.items()
    assert all(UNFINISHED in path.parts for path in left.keys() - before.keys())
    output = align("-m", mapper, "--resume")
    fits = mapper == "cca"  # it is the run that was stopped
    assert said(output, "Kept") == (["en.vec", "mapper"] if fits else [*FILES, "mapper"])
    assert contents(tmp_path / "out") == (whole if fits else before)


def test_without_resume_everything_is_written_again_and_what_was_left_removed(
    align, stopped, tmp_path
):
    stopped()
    for _ in ("what was left", "what is whole"):
        assert said(align(), "Wrote") == [*FILES, "mapper"]
        assert not (tmp_path / "out" / UNFINISHED).exists()


@pytest.mark.parametrize("damage", ["content", "pipe", "others may write", "of another user"])
def test_what_a_stopped_run_left_is_believed_only_if_it_is_its_own(
    align, stopped, tmp_path, damage, monkeypatch
):
    stopped()
    unfinished = tmp_path / "out" / UNFINISHED
    if damage == "content":
        path = unfinished / "new" / "en.vec"
        path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    if damage == "pipe":  # which an archive may hold
        (unfinished / "record.json").unlink()
        os.mkfifo(unfinished / "record.json")
    if damage == "of another user":
        owner_of = disk.owner_of
        monkeypatch.setattr(
            disk, "owner_of", lambda path: owner_of(path) + (path.name == UNFINISHED)
        )
    if damage == "others may write":
        unfinished.chmod(0o777)
    kept = ["mapper"] if damage == "content" else []
    assert said(align("--resume"), "Kept") == kept


def test_a_link_in_place_of_what_was_written_aside_is_not_followed(align, tmp_path):
    align()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("text")
    (tmp_path / "out" / UNFINISHED).symlink_to(elsewhere)
    align("-m", "cca")
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == WRITTEN


def test_a_run_that_fails_before_it_writes_forgets_nothing(align, tmp_path):
    align()
    broken = tmp_path / "broken.txt"
    broken.write_text("en1 es1 it1\n")
    align("-d", f"es-it={broken}", status=2)
    assert said(align("--resume"), "Kept") == [*FILES, "mapper"]


def change_unseen(path, old, new):
    """Change a text; its size and date stay the same."""
    status = path.stat()
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_file_with_another_date_and_the_same_content_is_the_same(align, tmp_path):
    align()
    for path in [*tmp_path.glob("*.vec"), *(tmp_path / "out").rglob("*")]:
        os.utime(path, ns=(0, 0))
    assert said(align("--resume"), "Kept") == [*FILES, "mapper"]


@pytest.mark.parametrize(
    "change",
    [
        *("parameter", "mapper", "max words", "input", "dictionary", "mapper is gone"),
        *("damaged record", "deep record", "a pipe for a record", "a link for a record"),
    ],
)
def test_what_a_fit_depends_on(align, tmp_path, change):
    align()
    options = {
        "parameter": ["-s", "hub=es"],
        "mapper": ["-m", "cca"],
        "max words": ["--max-words", "100"],
    }
    if change == "input":
        change_unseen(tmp_path / "it.vec", "it7", "it_")
    if change == "dictionary":
        path = tmp_path / "en-it.txt"
        change_unseen(path, "en7\tit7\n", "en7\tit8\n")
    if change == "mapper is gone":
        (tmp_path / "out" / "mapper" / "mapper.json").unlink()
    if change == "damaged record":
        (tmp_path / "out" / "align.json").write_text('{"format": 1, "files": [3]}')
    record = tmp_path / "out" / "align.json"
    if change == "deep record":
        record.write_text('{"format": 1, "files": ' + "[" * 200_000)
    if change == "a pipe for a record":
        record.unlink()
        os.mkfifo(record)
    if change == "a link for a record":
        record.symlink_to(record.rename(tmp_path / "elsewhere.json"))
    output = align("--resume", *options.get(change, ()))
    assert said(output, "Wrote") == [*FILES, "mapper"] and said(output, "Kept") == []
    assert record.is_file() and not record.is_symlink()


@pytest.mark.parametrize(
    "change", ["precision", "keep length", "extra words", "a file", "a digit", "gone"]
)
def test_what_a_file_depends_on(align, tmp_path, change):
    align()
    (tmp_path / "words.txt").write_text("es5\n")
    options = {
        "precision": ["--precision", "3"],
        "keep length": ["--keep-length"],
        "extra words": ["--extra-words", f"es={tmp_path / 'words.txt'}"],
    }
    if change == "a file":
        (tmp_path / "out" / "es.vec").write_text("1 1\ndog 3\n")
    if change == "a digit":
        change_unseen(tmp_path / "out" / "es.vec", "\nes7 ", "\nes_ ")
    if change == "gone":
        (tmp_path / "out" / "es.vec").unlink()
    output = align("--resume", *options.get(change, ()))
    changed = FILES if change in ("precision", "keep length") else ["es.vec"]
    assert said(output, "Wrote") == changed
    assert said(output, "Kept") == [name for name in [*FILES, "mapper"] if name not in changed]


def test_another_folder_of_inputs_with_the_same_files_still_fits(align, tmp_path):
    """The record names no folders: data may be mounted elsewhere."""
    align()
    record = (tmp_path / "out" / "align.json").read_text()
    assert str(tmp_path) not in record
    assert set(json.loads(record)["files"]) == {*FILES, "mapper"}


def test_a_vocabulary_beside_its_vectors_counts(geomm, write_toy):
    toy = make_toy()
    dictionary = write_toy(toy)[-2:]
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, f"{language}.npy")
    line = ["align", "en=en.npy", "es=es.npy", *dictionary, "-m", "procrustes", "-o", "out"]
    assert "Wrote" in geomm(*line, "--resume").output
    assert "Wrote" not in geomm(*line, "--resume").output
    Path("es.vocab").write_text("".join(f"es{n}\n" for n in reversed(range(120))))
    assert "Kept" not in geomm(*line, "--resume").output


def test_a_dictionary_through_a_pipe_is_read_once_and_known_again(align, tmp_path):
    plain = tmp_path / "en-es.txt"
    lines = plain.read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def through_pipe(content, *further):
        writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
        writer.start()
        output = align("-d", f"en-es={pipe}", *further)
        writer.join()
        return output

    plain.write_bytes(lines[: len(lines) // 2].rpartition(b"\n")[0])
    whole, fewer = b"en100\tes100\n", b"en101\tes101\n"
    assert said(through_pipe(whole), "Wrote") == [*FILES, "mapper"]
    assert said(through_pipe(whole, "--resume"), "Kept") == [*FILES, "mapper"]
    assert said(through_pipe(fewer, "--resume"), "Wrote") == [*FILES, "mapper"]


def test_identical_words_are_added_to_a_dictionary_of_the_same_pair(geomm, write_toy):
    embeddings = {
        name: Embeddings([f"w{n}" for n in range(len(given))], given.vectors)
        for name, given in make_toy().embeddings.items()
    }
    line = ["align", *write_toy(Toy(embeddings, {("en", "es"): [("w1", "w2"), ("w3", "w3")]}))]
    done = geomm(*line, "--identical", "en-es", "-m", "procrustes", "-o", "out")
    assert f"en-es: {len(embeddings['en']) + 1} pairs" in done.output

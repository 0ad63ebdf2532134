"""check(): what is whole is told so, and every damage is found."""

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import align, save_mapper, write_embeddings
from geomm_plugin.alignment import check
from geomm_plugin.alignment.record import fingerprint
from geomm_plugin.cli import group
from geomm_plugin.mappers import Procrustes
from geomm_plugin.storage import CARD, CARD_MARK
from geomm_plugin.testing import make_toy

TOY = make_toy(words=60, dimension=5)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "aligned"
    align(TOY.embeddings, TOY.dictionaries, "procrustes", output=folder, suffix=".npy")
    return folder


@pytest.fixture
def aligned(made, tmp_path):
    shutil.copytree(made, tmp_path / "aligned")
    return tmp_path / "aligned"


def problems(*paths):
    return [finding.problem for finding in check(*paths) if finding.problem]


def geomm_check(*arguments):
    return CliRunner().invoke(group, ["check", *map(str, arguments)])


def snapshot(folder):
    return {path: (path.lstat()[:4], path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def test_what_is_whole_is_told_so_and_not_changed(aligned, tmp_path):
    write_embeddings(TOY.embeddings["en"], tmp_path / "en.vec.gz")
    paths = [aligned, aligned / "mapper", aligned / "en.npy", tmp_path / "en.vec.gz"]
    before = snapshot(tmp_path)
    done = geomm_check(*paths)
    assert done.exit_code == 0
    kinds = ("aligned files", "mapper", "embeddings", "embeddings")
    told = [f"{path}: whole ({kind})" for path, kind in zip(paths, kinds, strict=True)]
    assert done.stdout.splitlines() == told
    assert snapshot(tmp_path) == before


def test_every_changed_byte_of_aligned_files_is_found(aligned):
    for path in [path for path in aligned.rglob("*") if path.is_file()]:
        content = path.read_bytes()
        own = len(CARD_MARK) if path.name == CARD else 0  # without it, it is somebody's own
        for place in range(own, len(content), max(1, len(content) // 15)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert problems(aligned), (path, place)
        path.write_bytes(content)
    assert problems(aligned) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("en.vocab", "it is not there"),
        ("mapper/mapper.json", "it is not there"),
        ("align.json", None),
    ],
)
def test_a_missing_file_is_named(aligned, name, problem):
    (aligned / name).unlink()
    findings = check(aligned)
    if problem is None:  # nothing says that these are aligned files
        assert all(finding.problem for finding in findings)
        return
    assert [(finding.path, finding.problem) for finding in findings] == [
        (str(aligned / name), problem)
    ]


def test_a_cut_file_tells_its_size(aligned):
    path = aligned / "en.npy"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-4])
    assert problems(aligned) == [f"it has {size - 4} bytes; it had {size}"]


def test_what_a_stopped_run_left_is_named(aligned):
    (aligned / ".unfinished").mkdir()
    assert "run it again with resume" in problems(aligned)[0]


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 1, "files": {}}', '{"format": 2}'])
def test_a_record_that_is_none_is_told(aligned, content):
    (aligned / "align.json").write_text(content)
    assert "not the record of aligned files" in problems(aligned)[0]


def test_a_record_does_not_lead_out_of_its_folder(aligned, tmp_path):
    (tmp_path / "mine").write_text("mine")
    record = json.loads((aligned / "align.json").read_text())
    record["files"]["en.npy"]["content"] = {"../mine": [4, "0" * 64]}
    held = {name: record[name] for name in ("files", "options", "versions") if name in record}
    record["checksum"] = fingerprint(held)
    (aligned / "align.json").write_text(json.dumps(record))
    assert "does not name the size and hash" in problems(aligned)[0]


def test_numbers_that_are_not_finite_and_words_that_repeat(tmp_path):
    vectors = TOY.embeddings["en"].vectors.copy()
    vectors[7, 2] = np.nan
    np.save(tmp_path / "x.npy", vectors)
    words = list(TOY.embeddings["en"].words)
    words[9] = words[3]
    (tmp_path / "x.vocab").write_text("".join(f"{word}\n" for word in words))
    found = problems(tmp_path / "x.npy")
    assert len(found) == 2
    assert "'en7' holds NaN or infinity" in found[0] and "repeat an earlier one" in found[1]


def test_files_that_are_cut_off_or_missing(tmp_path):
    write_embeddings(TOY.embeddings["en"], tmp_path / "en.vec.gz")
    content = (tmp_path / "en.vec.gz").read_bytes()
    (tmp_path / "en.vec.gz").write_bytes(content[:-30])
    (tmp_path / "es.vec").write_bytes(gzip.decompress(content)[:-100])
    for name in ("en.vec.gz", "es.vec", "nothing.vec"):
        assert len(problems(tmp_path / name)) == 1
    done = geomm_check(tmp_path / "en.vec.gz", tmp_path / "nothing.vec", "--json")
    assert done.exit_code == 1
    rows = json.loads(done.stdout)
    assert [row["path"] for row in rows] == [
        str(tmp_path / n) for n in ("en.vec.gz", "nothing.vec")
    ]
    assert all(row["problem"] and row["kind"] == "embeddings" for row in rows)


def test_a_damaged_mapper(tmp_path):
    save_mapper(TOY.fit(Procrustes()), tmp_path / "mapper")
    (arrays,) = (tmp_path / "mapper").glob("arrays-*")
    content = bytearray(arrays.read_bytes())
    content[-3] ^= 1
    arrays.write_bytes(content)
    done = geomm_check(tmp_path / "mapper", "--quiet")
    assert done.exit_code == 1 and "the checksum differs" in done.stdout


def test_the_means_beside_a_file_are_checked(tmp_path):
    folder = tmp_path / "aligned"
    made = align(TOY.embeddings, TOY.dictionaries, "procrustes", output=folder, neighborhoods=True)
    beside = {name: Path(f"{path}.neighborhoods") for name, path in made.paths.items()}
    assert not problems(folder, *beside.values())
    assert geomm_check(beside["en"]).stdout == f"{beside['en']}: whole (neighborhoods)\n"
    content = beside["en"].read_bytes()
    files = [f"{name}={path}" for name, path in made.paths.items()]
    assert CliRunner().invoke(group, ["neighborhoods", *files, "--max-words", "20"]).exit_code == 0
    assert beside["en"].read_bytes() != content and not problems(folder)  # of some words
    beside["en"].write_bytes(content)
    for place in (5, len(content) // 3, len(content) - 3):
        changed = bytearray(content)
        changed[place] ^= 1
        beside["en"].write_bytes(changed)
        assert len(problems(folder)) == len(problems(beside["en"])) == 1
    shutil.copy(beside["es"], beside["en"])
    assert not problems(beside["en"])
    (problem,) = problems(made.paths["en"])
    assert "computed from other vectors" in problem
    beside["en"].unlink()
    os.mkfifo(beside["en"])
    assert len(problems(folder)) == 1

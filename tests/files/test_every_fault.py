"""The first, the second, the third, ... operation on the disk fails: old or new output, never half.

Every command and function that writes is run over its old output again and again; each time one
more of its operations gets through, until all do. After each failure the output is read as users
read it: it is the old one or the new one, bit by bit. The next run leaves the new one, alone.
"""

import errno
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    align,
    get_mapper,
    load_mapper,
    read_embeddings,
    read_space,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.alignment.record import UNFINISHED
from geomm_plugin.cli import group
from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import remove_leftovers
from geomm_plugin.formats import read_languages
from geomm_plugin.retrieval.neighborhood_file import read_means
from geomm_plugin.testing import make_toy

TOY = make_toy(words=60, dimension=5)
PAIR = ("en", "es")


def geomm(*arguments):
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    if done.exit_code == 2:
        assert done.stderr.count("\n") == 1, done.stderr  # a sentence
        raise FileError(done.stderr)
    assert done.exit_code == 0, (done.output, done.exception)


def state_of(folder):
    mapper = load_mapper(folder)
    return mapper.name, {name: array.tobytes() for name, array in mapper.state().items()}


class Align:
    def __init__(self, suffix=".vec"):
        self.suffix = suffix

    def run(self, inputs, output, new):
        mapper = "cca" if new else "procrustes"
        align(TOY.embeddings, TOY.dictionaries, mapper, output=output, suffix=self.suffix)

    def look(self, output):
        read = read_languages({name: output / f"{name}{self.suffix}" for name in PAIR})
        vectors = [np.asarray(read[name].vectors).tobytes() for name in PAIR]
        return vectors, state_of(output / "mapper")


class Convert:
    def __init__(self, suffix):
        self.suffix = suffix

    def run(self, inputs, output, new):
        source = inputs / ("es.vec" if new else "en.vec")
        geomm("convert", source, output / f"x{self.suffix}", "-q")

    def look(self, output):
        read = read_embeddings(output / f"x{self.suffix}")
        return list(read.words), np.asarray(read.vectors).tobytes()


class Save:
    def run(self, inputs, output, new):
        save_mapper(TOY.fit(get_mapper("cca" if new else "procrustes")), output / "mapper")

    def look(self, output):
        return state_of(output / "mapper")


class Induce:
    def run(self, inputs, output, new):
        files = [f"{name}={inputs / name}.vec" for name in PAIR]
        words = ["--max-words", "60" if new else "40"]
        dictionary = ["-d", f"en-es={inputs / 'en-es.txt'}", "-m", "procrustes"]
        geomm("induce", *files, *dictionary, *words, "-qo", output / "x.tsv")

    def look(self, output):
        return (output / "x.tsv").read_bytes()


class Compare:
    def run(self, inputs, output, new):
        files = [f"{name}={inputs / name}.vec" for name in PAIR]
        lists = ["-d", f"en-es={inputs / 'en-es.txt'}", "-t", f"en-es={inputs / 'test.txt'}"]
        mapper = ["-m", "cca" if new else "procrustes"]
        geomm("compare", *files, *lists, *mapper, "-q", "--html", output / "x.html")

    def look(self, output):
        text = (output / "x.html").read_text()
        assert text.rstrip().endswith("</html>")
        return "procrustes" in text


class Static:
    """A format that is a folder of several files."""

    def run(self, inputs, output, new):
        pytest.importorskip("tokenizers")
        embeddings = TOY.embeddings["es" if new else "en"]
        write_embeddings(embeddings, output / "model", format="static_model")

    def look(self, output):
        read = read_embeddings(output / "model")
        return list(read.words), np.asarray(read.vectors).tobytes()


class Neighborhoods:
    """Files beside those that were read; each is whole, old or new."""

    def run(self, inputs, output, new):
        for name in PAIR:
            shutil.copy(inputs / f"{name}.vec", output / f"{name}.vec")
        files = [f"{name}={output / name}.vec" for name in PAIR]
        geomm("neighborhoods", *files, "-q", "-k", "3" if new else "2")

    def look(self, output):
        means = [read_means(output / f"{name}.vec.neighborhoods") for name in PAIR]
        return min(means[-1]).split()[-1]  # k of the file that is written last


class Space:
    """Several languages in one file."""

    def run(self, inputs, output, new):
        pytest.importorskip("pyarrow")
        files = [f"{name}={inputs / name}.vec" for name in PAIR]
        geomm("convert", *files, output / "x.parquet", "-q", "--max-words", "60" if new else "40")

    def look(self, output):
        space = read_space(output / "x.parquet")
        return [(name, list(space[name].words)) for name in space]


class Table:
    """A table in LaTeX, as every command writes it."""

    def run(self, inputs, output, new):
        files = [f"{name}={inputs / name}.vec" for name in PAIR]
        test = ["-d", f"en-es={inputs / 'en-es.txt'}", "--max-words", "60" if new else "20"]
        geomm("evaluate", *files, *test, "-q", "--latex", output / "x.tex")

    def look(self, output):
        text = (output / "x.tex").read_text()
        assert text.rstrip().endswith("\\end{tabular}")
        return text


JOBS = {
    "align": Align(),
    "align npy": Align(".npy"),
    "convert": Convert(".vec.gz"),
    "convert npy": Convert(".npy"),
    "convert safetensors": Convert(".safetensors"),
    "save_mapper": Save(),
    "induce": Induce(),
    "compare": Compare(),
    "a model in a folder": Static(),
    "neighborhoods": Neighborhoods(),
    "a space": Space(),
    "a table": Table(),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for language, embeddings in TOY.embeddings.items():
        write_embeddings(embeddings, folder / f"{language}.vec")
    lines = [f"{one}\t{other}\n" for one, other in TOY.dictionaries[PAIR]]
    (folder / "en-es.txt").write_text("".join(lines[:30]))
    (folder / "test.txt").write_text("".join(lines[30:]))
    return folder


def files_in(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


class Fault:
    """Lets the n-th operation fail, and counts."""

    def __init__(self, number):
        self.number, self.count = number, 0

    def __call__(self, operation, path):
        self.count += 1
        if self.count == self.number:
            raise OSError(errno.EIO, f"The plug was pulled at {operation}")


@pytest.mark.parametrize("name", JOBS)
def test_whatever_operation_fails_the_output_is_the_old_one_or_the_new(name, inputs, tmp_path):
    job, place = JOBS[name], tmp_path / "place"
    expected = {}
    for new in (False, True):
        folder = tmp_path / ("new" if new else "old")
        folder.mkdir()
        job.run(inputs, folder, new)
        expected[new] = job.look(folder)
    assert expected[False] != expected[True]
    seen = set()
    for number in range(1, 1000):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(tmp_path / "old", place)
        fault = Fault(number)
        with disk.watched(fault):
            try:
                job.run(inputs, place, True)
                ended = True
            except FileError:
                ended = False
        outcome = job.look(place)
        assert outcome in expected.values(), f"half of it after operation {number}"
        seen.add(outcome == expected[True])
        assert not ended or outcome == expected[True], f"told as done at {number}, but it is not"
        left = [path.name for path in place.iterdir() if path.name.startswith(".")]
        assert all(part.startswith((".geomm-p", UNFINISHED)) for part in left)
        if number % 4 == 0:
            job.run(inputs, place, True)
            assert job.look(place) == expected[True]
            remove_leftovers(place)  # as whatever is written there next does
            assert files_in(place) == files_in(tmp_path / "new")
        if fault.count < number:  # it got through
            break
    assert number > 5 and seen == {True, False}


def test_an_align_that_fails_anywhere_goes_on_with_resume(tmp_path):
    """Whatever was whole is kept: at the end fits and files are made once in all."""
    whole = tmp_path / "whole"
    Align().run(None, whole, True)
    output = tmp_path / "out"
    kept = []
    for number in range(1, 1000):
        fault = Fault(number)
        shutil.rmtree(output, ignore_errors=True)
        with disk.watched(fault):
            try:
                Align().run(None, output, True)
            except FileError:
                pass
        if fault.count < number:
            break
        again = align(TOY.embeddings, TOY.dictionaries, "cca", output=output, resume=True)
        kept.append(len(again.kept) + again.mapper_kept)
        assert Align().look(output) == Align().look(whole)
        assert files_in(output) == files_in(whole)
    assert kept[0] == 0 and max(kept) == 3

"""align() in Python: what `geomm align` does, from paths and from objects."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import align, get_mapper, load_mapper, read_embeddings, write_embeddings
from geomm_plugin.alignment import Alignment
from geomm_plugin.cli import group
from geomm_plugin.errors import FileError, LanguagesError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import locked
from geomm_plugin.mappers import GeoMM
from geomm_plugin.testing import make_toy

PAIR = ("en", "es")


@pytest.fixture
def toy():
    return make_toy(words=200)


@pytest.fixture
def files(toy, tmp_path):
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, tmp_path / f"{language}.vec")
    lines = "".join(f"{one}\t{other}\n" for one, other in toy.dictionaries[PAIR])
    (tmp_path / "en-es.txt").write_text(lines)
    return {language: str(tmp_path / f"{language}.vec") for language in toy.embeddings}


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_it_does_what_the_command_does(files, tmp_path):
    made = align(
        files,
        {PAIR: tmp_path / "en-es.txt"},
        "geomm:regularization=10",
        output=tmp_path / "python",
        max_words=150,
    )
    arguments = ["align", *(f"{language}={path}" for language, path in files.items())]
    arguments += ["-d", f"en-es={tmp_path / 'en-es.txt'}", "-m", "geomm", "-s", "regularization=10"]
    done = CliRunner().invoke(
        group, [*arguments, "--max-words", "150", "-o", str(tmp_path / "command")]
    )
    assert done.exit_code == 0, done.output
    assert contents(tmp_path / "python") == contents(tmp_path / "command")
    assert str(made).replace("python", "command") + "\n" == done.output


def test_the_result_tells_what_was_made(files, toy, tmp_path):
    made = align(
        files, {PAIR: toy.dictionaries[PAIR]}, GeoMM(regularization=10), output=tmp_path / "o"
    )
    assert isinstance(made, Alignment)
    assert made.paths == {language: tmp_path / "o" / f"{language}.vec" for language in files}
    assert (made.written, made.kept, made.mapper_kept) == (tuple(files), (), False)
    assert made.report is made.mapper.report_ and made.report.pairs["en-es"].used
    again = align(
        files,
        {PAIR: toy.dictionaries[PAIR]},
        GeoMM(regularization=10),
        output=tmp_path / "o",
        resume=True,
    )
    assert (again.written, again.kept, again.mapper_kept) == ((), tuple(files), True)
    for language in files:
        assert np.array_equal(again.mapper.matrices_[language], made.mapper.matrices_[language])
    saved = load_mapper(made.mapper_path)
    assert saved.get_params() == made.mapper.get_params()


def test_objects_are_aligned_like_the_files_that_they_came_from(files, toy, tmp_path):
    """Also in part: a language as a file, another one as words and vectors."""
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    whole = align(files, dictionaries, "procrustes", output=tmp_path / "files")
    given = {"en": files["en"], "es": (toy.embeddings["es"].words, toy.embeddings["es"].vectors)}
    for _ in range(2):
        mixed = align(given, dictionaries, "procrustes", output=tmp_path / "mixed", resume=True)
    assert mixed.kept == ("en", "es")
    for language in files:
        assert mixed.paths[language].read_bytes() == whole.paths[language].read_bytes()


def test_max_words_holds_for_objects_too(toy, tmp_path):
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    made = align(toy.embeddings, dictionaries, "procrustes", output=tmp_path, max_words=90)
    assert made.shapes["en"] == (90, toy.embeddings["en"].dimension)
    assert len(read_embeddings(made.paths["en"])) == 90


def test_an_object_that_changed_is_written_again(toy, tmp_path):
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    embeddings = dict(toy.embeddings)
    align(embeddings, dictionaries, "procrustes", output=tmp_path)
    changed = embeddings["es"].vectors.copy()
    changed[7, 3] += 1e-3
    embeddings["es"] = (embeddings["es"].words, changed)
    made = align(embeddings, dictionaries, "procrustes", output=tmp_path, resume=True)
    assert made.written == ("en", "es")


def test_a_dictionary_through_a_pipe_is_read_once(files, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = (tmp_path / "en-es.txt").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(lines,), daemon=True)
    writer.start()
    through = align(files, {PAIR: pipe}, "procrustes", output=tmp_path / "pipes")
    writer.join()
    plain = align(files, {PAIR: tmp_path / "en-es.txt"}, "procrustes", output=tmp_path / "plain")
    assert contents(through.mapper_path) == contents(plain.mapper_path)


def test_embeddings_through_a_pipe_are_read_once(files, tmp_path):
    pipe = tmp_path / "pipe.vec"
    os.mkfifo(pipe)
    content = Path(files["es"]).read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    dictionaries = {PAIR: tmp_path / "en-es.txt"}
    through = align(files | {"es": pipe}, dictionaries, "procrustes", output=tmp_path / "pipes")
    writer.join()
    plain = align(files, dictionaries, "procrustes", output=tmp_path / "plain")
    assert through.paths["es"].read_bytes() == plain.paths["es"].read_bytes()


def test_identical_words_need_no_dictionary(toy, tmp_path):
    words = [f"w{n}" for n in range(200)]
    embeddings = {name: (words, given.vectors) for name, given in toy.embeddings.items()}
    made = align(embeddings, {}, "procrustes", output=tmp_path, identical=[PAIR])
    same = get_mapper("procrustes").fit(embeddings, {PAIR: [(word, word) for word in words]})
    assert np.array_equal(made.mapper.W(*PAIR), same.W(*PAIR))


@pytest.mark.parametrize("suffix", [".npy", ".safetensors", ".vec.gz"])
def test_other_formats_and_lengths(files, tmp_path, suffix):
    made = align(
        files,
        {PAIR: tmp_path / "en-es.txt"},
        "geomm:regularization=10",
        output=tmp_path / "o",
        suffix=suffix,
        keep_length=True,
    )
    mapped = made.mapper.map({"en": read_embeddings(files["en"])})["en"]
    assert np.allclose(read_embeddings(made.paths["en"]).vectors, mapped.vectors, atol=1e-6)
    assert not list((tmp_path / "o").glob(".*"))


@pytest.mark.parametrize(
    "language",
    [
        "",
        ".",
        "..",
        ".hidden",
        ".geomm-part-x",
        "a/b",
        "x" * 300,
        "ж" * 126,
        "a:b",
        "aux",
        "Com1.x",
    ],
)
def test_odd_languages_are_refused_before_anything_is_made(toy, tmp_path, language):
    embeddings = {language: toy.embeddings["en"], "es": toy.embeddings["es"]}
    with pytest.raises(ParameterError, match="no name of a file"):
        align(embeddings, {(language, "es"): [("en1", "es1")]}, output=tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_a_language_may_not_take_the_place_of_the_mapper(toy, tmp_path):
    embeddings = {"mapper": toy.embeddings["en"], "es": toy.embeddings["es"]}
    dictionaries = {("mapper", "es"): [("en1", "es1")]}
    with pytest.raises(ParameterError, match="'mapper' and 'mapper' are one file"):
        align(embeddings, dictionaries, output=tmp_path, suffix="", format="spacy")


@pytest.mark.parametrize(("one", "other"), [("en", "EN"), ("\u00e9", "e\u0301"), ("ß", "SS")])
def test_languages_that_are_one_file_on_some_systems_are_refused(toy, tmp_path, one, other):
    embeddings = {one: toy.embeddings["en"], other: toy.embeddings["es"]}
    with pytest.raises(ParameterError, match="are one file on some systems. Choose another name"):
        align(embeddings, {(one, other): [("en1", "es1")]}, output=tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_what_does_not_fit_is_refused_before_anything_is_made(toy, files, tmp_path):
    output = tmp_path / "o"
    with pytest.raises(LanguagesError, match="'fr', which has no embeddings"):
        align(files, {("en", "fr"): [("a", "b")]}, output=output)
    with pytest.raises(LanguagesError, match="extra words of 'fr'"):
        align(files, {PAIR: [("en1", "es1")]}, output=output, extra_words={"fr": ["x"]})
    with pytest.raises(ParameterError, match="nothing to learn from"):
        align(files, {}, output=output)
    with pytest.raises(FileError, match="There is no file"):
        align(files | {"es": "missing.vec"}, {PAIR: [("en1", "es1")]}, output=output)
    assert not output.exists()


@pytest.mark.parametrize("kind", ["itself", "link", "hard link", "vocabulary"])
def test_an_input_is_not_replaced_by_whatever_name(toy, files, tmp_path, kind):
    output = tmp_path / "o"
    output.mkdir()
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    suffix = ".vec"
    if kind == "itself":
        output = tmp_path
    if kind == "link":
        (tmp_path / "link.vec").symlink_to(output / "es.vec")
        Path(files["es"]).rename(output / "es.vec")
        files = files | {"es": tmp_path / "link.vec"}
    if kind == "hard link":
        os.link(files["es"], output / "en.vec")
    if kind == "vocabulary":  # of an input in several files
        write_embeddings(toy.embeddings["es"], output / "en.vectors")
        files = files | {"es": output / "en.vectors"}
        suffix = ".npy"
    before = contents(tmp_path)
    with pytest.raises((ParameterError, FileError), match="would replace an input|is a part of"):
        align(files, dictionaries, "procrustes", output=output, suffix=suffix)
    assert contents(tmp_path) == before


def test_a_run_is_refused_beside_another_one_also_through_a_link(toy, tmp_path):
    output, link = tmp_path / "o", tmp_path / "link"
    output.mkdir()
    link.symlink_to(output)
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    for one, other in ((output, link), (link, output)):
        with locked(one), pytest.raises(FileError, match="Another run is writing into"):
            align(toy.embeddings, dictionaries, "procrustes", output=other)
    align(toy.embeddings, dictionaries, "procrustes", output=link)
    assert (output / "en.vec").is_file() and link.is_symlink()


def test_a_link_among_the_aligned_files_is_not_replaced(toy, tmp_path):
    output = tmp_path / "o"
    output.mkdir()
    (tmp_path / "mine.vec").write_text("mine")
    (output / "en.vec").symlink_to(tmp_path / "mine.vec")
    with pytest.raises(FileError, match="is a link"):
        align(toy.embeddings, {PAIR: toy.dictionaries[PAIR]}, "procrustes", output=output)
    assert (tmp_path / "mine.vec").read_text() == "mine"


def test_modes_of_replaced_files_stay(toy, tmp_path):
    dictionaries = {PAIR: toy.dictionaries[PAIR]}
    align(toy.embeddings, dictionaries, "procrustes", output=tmp_path)
    (tmp_path / "en.vec").chmod(0o600)
    align(toy.embeddings, dictionaries, "cca", output=tmp_path)
    modes = [(tmp_path / f"{name}.vec").stat().st_mode & 0o777 for name in ("en", "es")]
    assert modes[0] == 0o600 and modes[1] & 0o077


def test_all_that_is_published_is_on_the_disk_before(toy, tmp_path):
    """Each file is written whole and brought to disk, and only then renamed, as is the record."""
    calls = []
    with disk.watched(lambda operation, path: calls.append((operation, path))):
        align(toy.embeddings, toy.dictionaries, "procrustes", output=tmp_path)
    on_disk: set[str] = set()  # the names of files whose last content is
    for operation, path in calls:
        if operation == "fsync":
            on_disk.add(path.name)
        elif operation in ("open", "write"):
            on_disk.discard(path.name)
        elif operation == "rename" and path.parent == tmp_path and path.name != "mapper":
            assert {path.name, f"part-{path.name}"} & on_disk, path.name
    assert {path.name for path in (tmp_path / "mapper").iterdir()} <= on_disk
    records = [name for name in on_disk if name.endswith("record.json")]
    assert records, "the record of the stage, too"
    assert [call for call in calls if call[1] == tmp_path][-1][0] == "fsync", "and the names"

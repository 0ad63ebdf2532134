"""The door for outputs: where files are written to, and what is refused."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import align, get_mapper, read_embeddings, save_mapper, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.cli.forms import Output
from geomm_plugin.errors import FileError, ParameterError
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.testing import make_toy

TOY = make_toy(words=80, dimension=6)
PAIR = ("en", "es")
NULL = Path("/dev/null")


@pytest.fixture
def folder(tmp_path):
    for language, embeddings in TOY.embeddings.items():
        write_embeddings(embeddings, tmp_path / f"{language}.vec")
    lines = [f"{one}\t{other}\n" for one, other in TOY.dictionaries[PAIR]]
    (tmp_path / "en-es.txt").write_text("".join(lines[:40]))
    (tmp_path / "test.txt").write_text("".join(lines[40:]))
    return tmp_path


def write(path, text="new"):
    with atomic_file(path) as part:
        part.write_text(text)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "mapper"
    save_mapper(TOY.fit(get_mapper("procrustes")), folder)
    return folder


def commands(folder, output):
    """Every way to write a file, as the command and its option, with where it writes to."""
    files = [f"{name}={folder / name}.vec" for name in PAIR]
    train, test = f"en-es={folder / 'en-es.txt'}", f"en-es={folder / 'test.txt'}"
    tried = ["-d", train, "-t", test, "-m", "procrustes", "-q"]
    hop = ["-d", f"es-en={folder / 'en-es.txt'}", "-d", f"en-it={folder / 'en-es.txt'}"]
    hop += ["-t", f"es-it={folder / 'test.txt'}", f"it={folder / 'it.vec'}"]
    words = ["--words", folder / "en-es.txt"]
    model = folder / "mapper"
    lines = {
        "induce --output": ["induce", *files, "-d", train, "-m", "procrustes", "-q"],
        "compare --html": ["compare", *files, *tried],
        "compare --latex": ["compare", *files, *tried],
        "compare --save": ["compare", *files, *tried],
        "evaluate --latex": ["evaluate", *files, "-d", train, "--model", model],
        "onehop --latex": ["onehop", *files, *hop],
        "drift --latex": ["drift", *files, *words],
        "migrate --latex": ["migrate", *files],
        "plot space --output": ["plot", "space", model, *files, "en-es", "w", "-d", words[1]],
        "plot scores --output": ["plot", "scores", folder / "en-es.txt"],
        "plot lambda --output": ["plot", "lambda", model],
        "plot learning --output": ["plot", "learning", *files, *tried],
    }
    return {name: [*line, name.split()[-1], output] for name, line in lines.items()}


def run(line):
    return CliRunner().invoke(group, [str(word) for word in line])


def written_options(command, name=""):
    """Every option of a command, and of those in it, that names a file to write."""
    if isinstance(command, click.Group):
        for inner in command.list_commands(None):
            yield from written_options(command.get_command(None, inner), f"{name} {inner}")
    for option in command.params:
        if isinstance(option.type, Output) and not option.type.dir_okay:
            yield f"{name.strip()} {option.opts[0]}"


def test_all_of_them_are_tried():
    assert sorted(written_options(group)) == sorted(commands(Path(), ""))


@pytest.mark.parametrize("name", commands(Path(), ""))
@pytest.mark.parametrize("kind", ["a file", "a link", "a hard link", "the configuration"])
def test_no_command_replaces_its_input(folder, saved, name, kind, monkeypatch):
    shutil.copytree(saved, folder / "mapper")
    suffix = ".png" if name.startswith("plot") else ""  # a picture is refused by its name first
    inputs = [Path(str(word).partition("=")[2] or word) for word in commands(folder, "")[name]]
    there = [path for path in inputs if path.exists() and folder in path.parents]
    there = [path / "mapper.json" if path.is_dir() else path for path in there]
    if kind == "the configuration":
        there = [folder / "config.toml"]
        there[0].write_text("max-words = 50\n")
        config = ["--config", there[0]]
        if run([*name.split()[:-1], "--help"]).stdout.find("--config") < 0:
            pytest.skip("It reads none.")
    else:
        config = []
    for number, path in enumerate(there):
        output = path
        if kind == "a link" or (kind == "a file" and suffix):
            output = folder / f"link{number}{suffix}"
            output.symlink_to(path)
        elif kind == "a hard link":
            output = folder / f"hard{number}{suffix}"
            os.link(path, output)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        done = run([*commands(folder, output)[name], *config])
        assert done.exit_code == 2 and "would replace an input" in done.stderr, done.output
        after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert after == before


def test_two_outputs_are_two_files(folder):
    (folder / "link").symlink_to(folder / "x")
    line = [*commands(folder, folder / "x")["compare --html"], "--save", folder / "link"]
    done = run(line)
    assert done.exit_code == 2 and "is named for two outputs" in done.stderr, done.output
    assert not (folder / "x").exists()


@pytest.mark.parametrize("name", ["induce --output", "compare --html"])
def test_a_command_writes_into_a_pipe_and_through_a_link(folder, name):
    plain, pipe, target, link = (folder / each for each in ("plain", "pipe", "target", "link"))
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    os.mkfifo(pipe)
    content = []
    reader = threading.Thread(target=lambda: content.append(pipe.read_bytes()), daemon=True)
    reader.start()
    for output in (plain, pipe, link):
        done = run(commands(folder, output)[name])
        assert done.exit_code == 0, done.output
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    if name.startswith("induce"):
        assert content[0] == plain.read_bytes() == target.read_bytes()
    else:  # the page names its command
        assert content[0].count(b"\n") == plain.read_bytes().count(b"\n")


def test_a_device_stays_a_device(folder):
    write(NULL)
    assert NULL.is_char_device()


def test_standard_output_is_written_into(tmp_path):
    """A pipe, or a file that the shell opened: what is in it stays."""
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path\n"
        "from geomm_plugin.files.atomic import check_output, atomic_file\n"
        "check_output(Path('/dev/stdout'))\n"
        "with atomic_file(Path('/dev/stdout')) as part:\n    part.write_text('new')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("new", "")
    (tmp_path / "log").write_text("old ")
    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", program], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "old new"
    assert Path("/dev/stdout").is_symlink()


def test_an_output_of_several_files_is_refused_in_a_pipe(folder):
    os.mkfifo(folder / "x.npy")
    with pytest.raises(FileError, match="which holds one file; this output is several"):
        write_embeddings(TOY.embeddings["en"], folder / "x.npy")
    assert stat.S_ISFIFO((folder / "x.npy").stat().st_mode)
    assert not (folder / "x.vocab").exists()


def test_embeddings_in_one_file_go_into_a_pipe(folder):
    os.mkfifo(folder / "x.vec")
    content = []
    reader = threading.Thread(target=lambda: content.append((folder / "x.vec").read_bytes()))
    reader.start()
    write_embeddings(TOY.embeddings["en"], folder / "x.vec")
    reader.join(10)
    assert content == [(folder / "en.vec").read_bytes()]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
@pytest.mark.parametrize("suffix", [".vec", ".npy", ".safetensors"])
def test_the_mode_of_a_replaced_file_stays(tmp_path, mode, suffix):
    path = tmp_path / f"x{suffix}"
    for _ in range(2):
        write_embeddings(TOY.embeddings["en"], path)
        path.chmod(mode)
    write_embeddings(TOY.embeddings["es"], path)
    assert path.stat().st_mode & 0o777 == mode
    assert read_embeddings(path).words == TOY.embeddings["es"].words


def test_what_is_being_written_is_no_more_readable_than_what_it_replaces(tmp_path):
    (tmp_path / "x").write_text("secret")
    (tmp_path / "x").chmod(0o600)
    with atomic_file(tmp_path / "x") as part:
        assert part.parent.parent.stat().st_mode & 0o077 == 0
        part.write_text("new secret")
    assert (tmp_path / "x").read_text() == "new secret"


def test_links_are_followed_and_circles_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/new")  # which is not there yet
    write(tmp_path / "link")
    assert (tmp_path / "folder" / "new").read_text() == "new"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(FileError, match="leads in a circle"):
        write(tmp_path / "circle")
    with pytest.raises(FileError, match="it is a folder"):
        write(tmp_path / "folder")


def test_files_that_belong_together_are_written_together_through_links(tmp_path):
    real, links = tmp_path / "real", tmp_path / "links"
    links.mkdir()
    write_embeddings(TOY.embeddings["en"], real / "x.npy")
    (links / "x.npy").symlink_to(real / "x.npy")
    with pytest.raises(FileError, match="x.vocab, which belongs to it, is no link"):
        write_embeddings(TOY.embeddings["es"], links / "x.npy")
    (links / "x.vocab").symlink_to(real / "x.vocab")
    write_embeddings(TOY.embeddings["es"], links / "x.npy")
    assert read_embeddings(links / "x.npy").words == TOY.embeddings["es"].words
    assert (links / "x.npy").is_symlink() and not (real / "x.npy").is_symlink()


def test_a_file_that_only_looks_like_a_vocabulary_is_not_replaced(tmp_path):
    own = tmp_path / "x.vocab"
    own.write_text("mine")
    with pytest.raises(FileError, match=r"x.vocab, which is there already"):
        write_embeddings(TOY.embeddings["en"], tmp_path / "x.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["x.vocab"] and own.read_text() == "mine"
    own.unlink()
    for language in ("en", "es"):  # of the array that is there, the vocabulary is written anew
        write_embeddings(TOY.embeddings[language], tmp_path / "x.npy")


def test_a_vocabulary_that_another_file_needs_is_not_replaced(tmp_path):
    np.save(tmp_path / "x.npy", TOY.embeddings["en"].vectors)
    (tmp_path / "x.txt").write_text("".join(f"{word}\n" for word in TOY.embeddings["en"].words))
    before = (tmp_path / "x.txt").read_bytes()
    done = CliRunner().invoke(group, ["convert", str(tmp_path / "x.npy"), str(tmp_path / "x.txt")])
    assert done.exit_code == 2 and "x.txt would replace an input" in done.stderr
    for name in ("x.txt", "x.words", "x.vectors"):  # the last one by the vocabulary beside it
        with pytest.raises(FileError, match=r"is a part of .*x\.npy"):
            write_embeddings(TOY.embeddings["es"], tmp_path / name, format=named(name))
    assert (tmp_path / "x.txt").read_bytes() == before
    write_embeddings(TOY.embeddings["es"], tmp_path / "x.vec")  # which x.npy does not look at
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy", "x.txt", "x.vec"]
    write_embeddings(TOY.embeddings["es"], tmp_path / "x.npy")  # with a vocabulary of its own
    assert read_embeddings(tmp_path / "x.npy").words == TOY.embeddings["es"].words


def named(name):
    return {"x.txt": "glove", "x.words": "glove"}.get(name)


def test_letter_case_does_not_hide_an_input(tmp_path, monkeypatch):
    """Where Dog.vec and dog.vec are one file, they have one inode."""
    (tmp_path / "dog.vec").write_text("mine")
    os.link(tmp_path / "dog.vec", tmp_path / "Dog.vec")
    with pytest.raises(ParameterError, match="Dog.vec would replace an input. Choose."):
        refuse_inputs([tmp_path / "Dog.vec"], [tmp_path / "dog.vec"], "Choose.")


def test_devices_may_be_input_and_output(tmp_path):
    refuse_inputs([tmp_path / "x", NULL], [NULL], "")


def test_a_folder_with_other_files_is_not_replaced(tmp_path):
    """The mapper of an alignment, and a format that is a folder, replace folders as a whole."""
    pairs = tmp_path / "aligned" / "mapper" / "pairs.txt"
    pairs.parent.mkdir(parents=True)
    pairs.write_text("".join(f"{one}\t{other}\n" for one, other in TOY.dictionaries[PAIR]))
    with pytest.raises(FileError, match=r"holds pairs.txt, which would be lost"):
        align(TOY.embeddings, {PAIR: pairs}, "procrustes", output=tmp_path / "aligned")
    assert [path.name for path in (tmp_path / "aligned").rglob("*")] == ["mapper", "pairs.txt"]
    pairs.unlink()
    for mapper in ("procrustes", "cca"):  # over an empty folder, and over another mapper
        align(TOY.embeddings, TOY.dictionaries, mapper, output=tmp_path / "aligned")

    pytest.importorskip("tokenizers")
    model = tmp_path / "model"
    for language in PAIR:
        write_embeddings(TOY.embeddings[language], model, format="static_model")
    (model / "pictures").mkdir()
    (model / "pictures" / "holiday.jpg").touch()
    with pytest.raises(FileError, match=r"holds pictures/holiday.jpg, which would be lost"):
        write_embeddings(TOY.embeddings["en"], model, format="static_model")
    assert (model / "pictures" / "holiday.jpg").exists()
    assert list(read_embeddings(model).words) == list(TOY.embeddings["es"].words)

"""Options from a file, from the environment and from the command line give the same run."""

import shutil
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from geomm_plugin import align, write_embeddings
from geomm_plugin.cli import COMMANDS, group
from geomm_plugin.cli.command_line import command_line
from geomm_plugin.cli.configuration import Configurable, keys_of
from geomm_plugin.cli.toml import toml_line, toml_table
from geomm_plugin.testing import make_toy

LINE = [
    "align", "en=wiki.en.vec", "es=wiki.es.vec", "--dictionary", "en-es=en-es.txt",
    "--set", "regularization=10", "--max-words", "60", "--precision", "6", "--keep-length",
    "--quiet",
]  # fmt: skip
FILE = """
languages = ["en", "es"]
vectors = "wiki.{lang}.vec"
pairs = ["en-es"]
dictionary = "{pair}.txt"
output = "by_file"
max_words = 60
precision = 6
keep-length = true
quiet = true
[set]
regularization = 10
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    toy = make_toy(words=80, pairs=60)
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, tmp_path / f"wiki.{language}.vec")
    pairs = next(iter(toy.dictionaries.values()))
    lines = "".join(f"{source} {target}\n" for source, target in pairs)
    (tmp_path / "en-es.txt").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def geomm(*arguments, status=0, env=None):
    line = [str(each) for each in arguments]
    done = CliRunner().invoke(group, line, prog_name="geomm", env=env)
    assert done.exit_code == status, (done.output, done.exception)
    return done


def content(folder):
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_file_gives_byte_for_byte_what_the_command_line_gives(folder):
    Path("align.toml").write_text(FILE)
    geomm("align", "--config", "align.toml")
    geomm(*LINE, "--output", "by_line")
    printed = geomm(*LINE, "--output", "by_print", "--print-config").stdout
    assert not Path("by_print").exists()
    Path("printed.toml").write_text(printed)
    geomm("align", "--config", "printed.toml")
    assert len(content("by_line")) > 3
    assert content("by_file") == content("by_line") == content("by_print")


def test_the_record_of_an_alignment_gives_the_same_run_again(folder):
    geomm(*LINE, "--identical", "es-en", "--output", "out")
    before = content("out")
    printed = geomm("align", "--config", "out/align.json", "--print-config").stdout
    Path("again.toml").write_text(printed)
    shutil.rmtree("out")
    geomm("align", "--config", "again.toml", "--quiet")
    assert content("out") == before
    shutil.copytree("out", "other")
    geomm("align", "--config", "other/align.json", "--quiet")
    assert content("other") == before


def test_a_record_of_a_run_from_memory_says_so(folder):
    toy = make_toy(words=80, pairs=60)
    align(toy.embeddings, toy.dictionaries, "procrustes", output="out")
    done = geomm("align", "--config", "out/align.json", status=2)
    assert "align.json does not tell the options of its run" in done.stderr


def test_relative_paths_start_at_the_folder_of_the_file(folder, tmp_path_factory, monkeypatch):
    Path("align.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    geomm("align", "--config", folder / "align.toml")
    assert (folder / "by_file" / "en.vec").is_file()
    assert not list(Path().iterdir())


def test_the_command_line_wins_then_the_environment_then_the_file(folder):
    Path("align.toml").write_text('max-words = 11\nprecision = 3\noutput = "o"\nmapper = "x"')
    variables = {"GEOMM_ALIGN_MAX_WORDS": "12", "GEOMM_ALIGN_PRECISION": "4"}
    line = ["align", "en=e", "--config", "align.toml", "--print-config", "--max-words", "13"]
    options = tomllib.loads(geomm(*line, env=variables).stdout)
    assert options == {
        "output": "o", "mapper": "x", "max-words": 13, "precision": 4, "vectors": {"en": "e"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("max-word = 3", "bad.toml: `geomm align` has no option 'max-word'. Did you mean 'max-w"),
        ("max-words = 0", "bad.toml: 'max-words': 0 is not in the range"),
        ('max-words = "3"', "bad.toml: 'max-words' takes a whole number, not a text."),
        ("max-words = 2.5", "bad.toml: 'max-words' takes a whole number, not 2.5."),
        ("max-words = true", "bad.toml: 'max-words' takes a whole number, not true or false."),
        ("max-words = 3\nmax_words = 3", "bad.toml: 'max_words' is given twice"),
        ("resume = 1", "bad.toml: 'resume' takes true or false, not 1."),
        ("vectors = 3", "bad.toml: 'vectors' takes a table"),
        ("output = ['a']", "bad.toml: 'output' takes a text, not a list."),
        ("mapper = 1979-05-27", "bad.toml: 'mapper' takes a text, not a date."),
        ("languages = 'en'", "bad.toml: 'languages' takes a list of texts"),
        ("vectors = '{lang}.vec'", "bad.toml: 'vectors' is a pattern with {lang}, and nothing"),
        ("[dictionary]\nen-es = 3", "bad.toml: 'dictionary.en-es' takes texts, not 3."),
        ("[vectors]\nzh.hans = 'a'", "bad.toml: 'vectors.zh' takes texts, not a table."),
        ("[set]\na = [[1]]", "bad.toml: 'set.a' takes texts, not a list."),
        ("config = 'x'", "bad.toml: `geomm align` has no option 'config'."),
        ("x = ", "bad.toml is no TOML: Invalid value (at "),
        (f"x = {'[' * 5000}", "bad.toml is no TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_a_sentence(folder, text, sentence):
    Path("bad.toml").write_text(text)
    done = geomm("align", "--config", "bad.toml", status=2)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_a_file_that_is_not_there_or_not_text_is_a_sentence(folder):
    assert (
        "nowhere.toml: No such file" in geomm("align", "--config", "nowhere.toml", status=2).stderr
    )
    Path("bad.toml").write_bytes(b"\xff = 1")
    assert "bad.toml is no TOML" in geomm("align", "--config", "bad.toml", status=2).stderr


def test_settings_are_passed_on_as_they_would_be_typed(folder):
    Path("align.toml").write_text(
        'output = "o"\n[set]\na = 0.1\nb = true\nc = ["unit", "center"]\nd = "x y"\ne = 1e3'
    )
    printed = geomm("align", "en=e", "--config", "align.toml", "--print-config").stdout
    assert tomllib.loads(printed)["set"] == {
        "a": 0.1, "b": True, "c": "unit,center", "d": "x y", "e": 1000.0,
    }  # fmt: skip


def configurable():
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in COMMANDS}
    return {name: each for name, each in commands.items() if isinstance(each, Configurable)}


def test_commands_that_take_a_file():
    assert {"align", "compare", "evaluate", "paper"} <= set(configurable())


@pytest.mark.parametrize("name", configurable())
def test_every_option_has_a_key_of_its_own(name):
    keys = [key for param in configurable()[name].params for key in keys_of(param)]
    assert len(keys) == len(set(keys))
    assert not {"languages"} & set(keys)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = st.from_regex(r"[a-z]{2,3}", fullmatch=True)


@settings(max_examples=25)
@given(
    files=st.dictionaries(NAMES, TEXTS.filter(bool), min_size=1),
    dictionaries=st.lists(st.tuples(NAMES, NAMES, TEXTS.filter(bool))),
    parameters=st.dictionaries(NAMES, TEXTS | st.sampled_from(["1", "-1", "01", "1.0", "1e3"])),
    numbers=st.none() | st.integers(1, 10**6),
    resume=st.booleans(),
)  # fmt: skip
def test_what_is_printed_reads_back_as_the_same_command(
    tmp_path_factory, files, dictionaries, parameters, numbers, resume
):
    line = [f"{name}={path}" for name, path in files.items()]
    line += [f"--dictionary={one}-{other}={path}" for one, other, path in dictionaries]
    line += [f"--set={name}={value}" for name, value in parameters.items() if value]
    line += [] if numbers is None else [f"--max-words={numbers}"]
    line += ["--output=out", *["--resume"] * resume]
    command = configurable()["align"]
    folder = tmp_path_factory.mktemp("printed")
    with click.Context(group, info_name="geomm") as parent, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        typed = command.make_context("align", list(line), parent)
        printed = geomm("align", *line, "--print-config").stdout_bytes
        Path("align.toml").write_bytes(printed)
        read = command.make_context("align", ["--config", "align.toml"], parent)
        assert normal(read.params) == normal(typed.params)
        assert tomllib.loads(printed.decode())["output"] == "out"
        again = command_line(read)
    shutil.rmtree(folder)
    assert again.startswith("geomm align ")


def normal(params):
    """Paths went through pathlib on the way: a//b and ./a became a/b and a."""
    named = ("embeddings", "dictionaries")
    return params | {
        name: [(text.partition("=")[0], Path(text.partition("=")[2])) for text in params[name]]
        for name in named
    }


@given(table=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), TEXTS))
def test_toml_is_read_back_as_it_was(table):
    assert tomllib.loads(toml_table("a b", table)) == {"a b": table}
    for key, value in table.items():
        assert toml_line(key, value).isprintable()


@pytest.mark.parametrize("value", [True, False, 1, -5, 0.1, 1e300, [1, 2], ["a", 'b"']])
def test_toml_values_keep_their_type(value):
    assert repr(tomllib.loads(toml_line("x", value))["x"]) == repr(value)


def test_a_path_that_is_not_unicode_is_refused(folder):
    done = geomm("align", "en=\udcff.vec", "--output", "o", "--print-config", status=2)
    assert "UTF-8" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_variable(name):
    command = group.get_command(click.Context(group), name)
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in options:
        assert option.envvar.startswith(f"GEOMM_{name.upper()}_")
    assert len({option.envvar for option in options}) == len(options)


def test_variables_of_options_in_groups_and_lists(folder):
    plot = group.get_command(click.Context(group), "plot")
    space = {param.name: param for param in plot.commands["space"].params}
    assert space["max_words"].envvar == "GEOMM_PLOT_SPACE_MAX_WORDS"
    variables = {"GEOMM_ALIGN_DICTIONARY": "en-es=a en-it=b", "GEOMM_ALIGN_QUIET": "1"}
    done = geomm("align", "en=e", "--output", "o", "--print-config", env=variables)
    options = tomllib.loads(done.stdout)
    assert options["dictionary"] == {"en-es": "a", "en-it": "b"}
    assert options["quiet"] is True

"""Options from a file, from the environment and from the command line give the same run."""

import json
import shutil
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomm_plugin import align
from geomm_plugin.alignment.record import fingerprint
from geomm_plugin.cli import COMMANDS, group
from geomm_plugin.cli.config import HEADINGS, command_line, keys_of
from geomm_plugin.testing import make_toy

LINE = [
    "align", "en=en.vec", "es=es.vec", "--dictionary", "en-es=en-es.txt",
    "--set", "regularization=10", "--max-words", "60", "--precision", "6", "--keep-length",
    "--quiet",
]  # fmt: skip
FILE = """
output = "by_file"
max_words = 60
precision = 6
keep-length = true
quiet = true
[vectors]
en = "en.vec"
es = "es.vec"
[dictionary]
en-es = "en-es.txt"
[set]
regularization = 10
"""


@pytest.fixture
def folder(write_toy, tmp_path):
    write_toy(words=80, pairs=60)
    return tmp_path


def content(folder):
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_file_gives_byte_for_byte_what_the_command_line_gives(geomm, folder):
    Path("align.toml").write_text(FILE)
    geomm("align", "--config", "align.toml")
    geomm(*LINE, "--output", "by_line")
    assert len(content("by_line")) > 3
    assert content("by_file") == content("by_line")


def test_the_record_of_an_alignment_gives_the_same_run_again(geomm, folder):
    geomm(*LINE, "--identical", "es-en", "--output", "out")
    before = content("out")
    shutil.copytree("out", "other")
    geomm("align", "--config", "other/align.json", "--quiet")
    geomm("align", "--config", "out/align.json", "--output", "again", "--quiet")
    assert content("other") == content("again") == before


def test_a_record_that_was_changed_or_names_more_than_a_run_writes_is_refused(geomm, folder):
    geomm(*LINE, "--output", "out")
    record = json.loads(Path("out/align.json").read_text())
    for change, sentence in [
        ({"checksum": "0"}, "its checksum differs from what it holds"),
        ({"format": 0}, "it is no record of the format"),
        ({"cluster": "tcp://x:1"}, "holds 'cluster', which no run writes"),
        ({"jobs": 2}, "holds 'jobs', which no run writes"),
        ({"output": "../elsewhere"}, "'output' leads out of the folder of the file"),
    ]:
        options = record["options"] | {k: v for k, v in change.items() if k not in record}
        held = {name: record[name] for name in ("files", "versions")} | {"options": options}
        changed = {"format": record["format"], **held, "checksum": fingerprint(held)}
        changed |= {k: v for k, v in change.items() if k in record}
        Path("out/align.json").write_text(json.dumps(changed))
        done = geomm("align", "--config", "out/align.json", status=2)
        assert "out/align.json" in done.stderr and sentence in done.stderr
        assert not Path("elsewhere").exists()


def test_a_cluster_is_never_taken_from_a_file(geomm, folder):
    Path("align.toml").write_text('cluster = "tcp://127.0.0.1:1"')
    line = ["align", "--config", "align.toml", "--cluster", "tcp://127.0.0.1:2"]
    for words in (line[:3], line):
        done = geomm(*words, status=2)
        assert "align.toml, line 1: 'cluster' is never taken" in done.stderr
        assert "set GEOMM_ALIGN_CLUSTER" in done.stderr


@pytest.mark.parametrize("kind", ["outside", "a link", "absolute"])
def test_a_file_names_no_output_outside_its_folder(geomm, folder, kind):
    (folder / "got").mkdir()
    (folder / "link").symlink_to(folder / "got")
    (folder / "got" / "up").symlink_to(folder)
    victim = folder / "profile"
    victim.write_text("mine")
    output = {"outside": "../profile", "a link": "up/profile", "absolute": str(victim)}[kind]
    text = f'test = {{"en-es" = "../en-es.txt"}}\nmapper = "procrustes"\nhtml = "{output}"\n'
    Path("got/c.toml").write_text(text)
    line = ["compare", *LINE[1:5], "--config", "link/c.toml"]
    assert "'html' leads out of the folder of the file, to" in geomm(*line, status=2).stderr
    assert victim.read_text() == "mine"
    geomm(*line, "--html", victim)  # whoever types it, wants it
    assert "<html" in victim.read_text()


def test_a_record_of_a_run_from_memory_says_so(geomm, folder):
    toy = make_toy(words=80, pairs=60)
    align(toy.embeddings, toy.dictionaries, "procrustes", output="out")
    done = geomm("align", "--config", "out/align.json", status=2)
    assert "align.json does not hold the options of its run" in done.stderr


def test_relative_paths_start_at_the_folder_of_the_file(
    geomm, folder, tmp_path_factory, monkeypatch
):
    Path("align.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    geomm("align", "--config", folder / "align.toml")
    assert (folder / "by_file" / "en.vec").is_file()
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("max-word = 3", "bad.toml, line 1: `geomm align` has no option 'max-word'. Did you mea"),
        ("max-words = 0", "bad.toml, line 1: 'max-words': 0 is not in the range"),
        ("max-words = 2.5", "bad.toml, line 1: 'max-words': '2.5' is not a valid integer"),
        ("max-words = true", "bad.toml, line 1: 'max-words': 'true' is not a valid integer"),
        ("max-words = 3\nmax_words = 3", "bad.toml, line 2: 'max_words' is given twice"),
        ("\nresume = 7", "bad.toml, line 2: 'resume': '7' is not a valid boolean"),
        ("vectors = 3", "bad.toml, line 1: 'vectors' takes a table"),
        ("output = ['a']", "bad.toml, line 1: 'output' takes a text or a number, not a list."),
        ("mapper = 1979-05-27", "line 1: 'mapper' takes a text or a number, not a date."),
        ("[dictionary]\nen-es = [[3]]", "line 2: 'dictionary.en-es' takes a text or a number"),
        ("[vectors]\nzh.hans = 'a'", "'vectors.zh' takes a text or a number, not a table."),
        ("[set]\na = [[1]]", "bad.toml, line 2: 'set.a' takes a text or a number, not a list."),
        ("config = 'x'", "bad.toml, line 1: `geomm align` has no option 'config'."),
        ("x = ", "bad.toml is no TOML: Invalid value (at "),
        (f"x = {'[' * 5000}", "bad.toml is no TOML: "),
        (b"\xff = 1", "bad.toml is no TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_a_sentence(geomm, folder, text, sentence):
    Path("bad.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = geomm("align", "--config", "bad.toml", status=2)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_a_file_that_is_not_there_is_a_sentence(geomm, folder):
    done = geomm("align", "--config", "nowhere.toml", status=2)
    assert "nowhere.toml: No such file" in done.stderr


def typed(name, *line, env=None):
    """Return the command line that a command understood."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in (env or {}).items():
            patch.setenv(variable, value)
        with click.Context(group, info_name="geomm", **group.context_settings) as parent:
            command = group.get_command(parent, name)
            return command_line(command.make_context(name, list(line), parent))


def test_the_command_line_wins_then_the_environment_then_the_file(folder):
    Path("align.toml").write_text('max-words = 11\nprecision = 3\noutput = "o"\nmapper = "x"')
    variables = {"GEOMM_ALIGN_MAX_WORDS": "12", "GEOMM_ALIGN_PRECISION": "4"}
    line = ["en=e", "--config", "align.toml", "--max-words", "13"]
    assert typed("align", *line, env=variables) == (
        f"geomm align en=e --max-words 13 --mapper x --output {Path('o')} --precision 4"
    )


def test_settings_are_passed_on_as_they_would_be_typed(folder):
    lines = ["a = 0.1", "b = true", 'c = ["unit", "center"]', 'd = "x y"', "e = 1e3"]
    Path("align.toml").write_text("\n".join(['output = "o"', 'encoding = "x"', "[set]", *lines]))
    assert typed("align", "en=e", "--config", "align.toml").endswith(
        "--encoding x --set a=0.1 --set b=true --set c=unit,center --set 'd=x y' --set e=1000.0 "
        "--output o"
    )


def test_variables_of_options_in_groups_and_lists(geomm):
    variables = {"GEOMM_ALIGN_DICTIONARY": "en-es=a en-it=b", "GEOMM_ALIGN_QUIET": "1"}
    line = typed("align", "en=e", "--output", "o", env=variables)
    assert "--dictionary en-es=a --dictionary en-it=b" in line and line.endswith("--quiet")
    plot = ["plot", "scores", "nowhere.json", "-o", "x.png"]
    assert "font" in geomm(*plot, env={"GEOMM_PLOT_SCORES_FONTS": "x"}, status=2).stderr.lower()
    for name in ("DICTIONARY", "TEST"):
        shown = typed("evaluate", "en=e", env={f"GEOMM_EVALUATE_{name}": "en-es=a"})
        assert "en-es=a" in shown


def test_a_variable_that_sets_nothing_is_reported(geomm, folder):
    done = geomm(*LINE, "-o", "o", env={"GEOMM_ALIGN_MAXWORDS": "5", "GEOMM_COMPARE_X": "1"})
    assert done.stderr == (
        "Warning: The variable GEOMM_ALIGN_MAXWORDS sets no option of `geomm align`. Did you mean "
        "'GEOMM_ALIGN_MAX_WORDS'?\n"
    )


def command_of(name):
    return group.get_command(click.Context(group), name)


def test_commands_that_take_a_file():
    takes = {n for n in COMMANDS for p in command_of(n).params if p.name == "config"}
    assert takes == {"align", "compare", "evaluate", "induce", "onehop", "paper"}


def options_of(command, name):
    """Every option of a command and of those in it, with the name of its command."""
    for inner, within in command.commands.items() if isinstance(command, click.Group) else ():
        yield from options_of(within, f"{name} {inner}")
    yield from ((name, each) for each in command.params if isinstance(each, click.Option))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_heading_a_key_and_a_variable(name):
    """GEOMM, the command, the option: click makes the variable of the parameter's name."""
    headed = " ".join(HEADINGS.values()).split()
    for command, option in options_of(command_of(name), name):
        key = keys_of(option)[0]
        assert key in headed, f"HEADINGS lack --{key} of {command}"
        variables = [option.name, *(option.envvar or "").lower().split(f"{command}_")]
        assert key.replace("-", "_") in variables, (command, option.name)
    keys = [key for param in command_of(name).params for key in keys_of(param)]
    assert len(keys) == len(set(keys))


def test_help_shows_headings_with_what_is_needed_first(geomm):
    shown = geomm("align", "-h").stdout
    first = ["Data:", "-d, --dictionary", "Method:", "-m, --mapper", "Output:", "-o, --output"]
    places = [shown.index(f"\n{text}" if ":" in text else f"\n  {text}") for text in first]
    assert places == sorted(places) and "Options:" not in shown
    assert shown == geomm("align", "--help").stdout


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NAMES = st.from_regex(r"[a-z]{2,3}", fullmatch=True)


@settings(max_examples=25)
@given(
    files=st.dictionaries(NAMES, TEXTS.filter(bool), min_size=1),
    parameters=st.dictionaries(NAMES, TEXTS | st.sampled_from(["1", "-1", "01", "1.0", "1e3"])),
    resume=st.booleans(),
)  # fmt: skip
def test_a_file_says_what_a_line_says(tmp_path_factory, files, parameters, resume):
    line = [f"{name}={path}" for name, path in files.items()]
    line += [f"--set={name}={value}" for name, value in parameters.items()]
    line += ["--output=out", *["--resume"] * resume]
    text = f"output = 'out'\nresume = {str(resume).lower()}\n"
    for key, table in (("vectors", files), ("set", parameters)):
        rows = (f"{n} = {json.dumps(v, ensure_ascii=False)}\n" for n, v in table.items())
        text += f"[{key}]\n{''.join(rows)}"
    with (
        click.Context(group, info_name="geomm", **group.context_settings) as parent,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(tmp_path_factory.mktemp("written"))
        Path("align.toml").write_text(text.replace("\x7f", "\\u007f"), encoding="utf-8")
        arguments = (["--config", "align.toml"], line)
        read, given = (command_of("align").make_context("align", a, parent) for a in arguments)
        assert normal(read.params) == normal(given.params)


def normal(params):
    """Paths went through pathlib on the way: a//b and ./a became a/b and a."""
    texts = (text.partition("=") for text in params["embeddings"])
    return params | {"embeddings": [(name, Path(path)) for name, _, path in texts]}

"""The pages keep their word: every python block runs, every `$ geomm` line works, links hold.

Blocks of a page run in order and share their names, in a folder that holds the files the pages
speak of, made from the demo data. Blocks marked `py` show parts of files and are not run.
"""

import ast
import gzip
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import geomm_plugin
from geomm_plugin import registry, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER
from geomm_plugin.registry import hookspecs

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NEEDS = {
    "README.md": ["gensim", "matplotlib"],
    "formats.md": ["faiss", "spacy"],
    "gensim.md": ["gensim"],
    "scikit_learn.md": ["sklearn"],
    "unseen_words.md": ["gensim"],
}


@pytest.fixture(scope="module")
def files(demo, tmp_path_factory):
    """Make the files that pages speak of."""
    folder = tmp_path_factory.mktemp("files")
    for language in ("en", "es", "it"):
        head = demo.embeddings[language].head(2000)
        write_embeddings(head, folder / f"wiki.{language}.vec")
        write_embeddings(head, folder / f"aligned.{language}.vec")
    write_embeddings(demo.embeddings["en"].head(2000), folder / "1990.vec")
    write_embeddings(demo.embeddings["en"].head(1900), folder / "2010.vec")
    for source, target in demo.train:
        for part, name in ((demo.train, "0-5000"), (demo.test, "5000-6500")):
            lines = "".join(f"{one} {other}\n" for one, other in part[source, target][:800])
            path = folder / f"{source}-{target}.{name}.txt"
            path.write_text(lines, encoding="utf-8")
    for language in ("en", "es"):
        for name, kind in (("sentences", "txt"), ("topics", "tsv")):
            packed = (FOLDER / f"{name}.{language}.{kind}.gz").read_bytes()
            (folder / f"{name}.{language}.{kind}").write_bytes(gzip.decompress(packed))
    (folder / "words.txt").write_text("unfreedoms\n", encoding="utf-8")
    (folder / "words.en.txt").write_text("freedom\nparliament\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fasttext_model(files, demo):
    """Make a small model with subwords, of the vocabulary of the demo."""
    fasttext = pytest.importorskip("gensim.models.fasttext")
    model = fasttext.FastText(
        [demo.embeddings["en"].words[:1500]], vector_size=20, min_count=1, bucket=1000, epochs=1,
        workers=1,
    )  # fmt: skip
    fasttext.save_facebook_model(model, str(files / "cc.en.300.bin"))


@pytest.fixture
def plugins():
    """Take back what a page registers."""
    before = set(registry.plugins.manager.get_plugins())
    yield
    for plugin in set(registry.plugins.manager.get_plugins()) - before:
        registry.plugins.unregister(plugin)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_everything_on_a_page_runs(page, files, plugins, monkeypatch, request):
    for module in NEEDS.get(page.name, ()):
        pytest.importorskip(module)
    text = page.read_text(encoding="utf-8")
    if ".bin" in text and page.name in ("unseen_words.md",):
        request.getfixturevalue("fasttext_model")
    monkeypatch.chdir(files)
    names = {"__name__": "page"}
    for match in BLOCK.finditer(text):
        kind, content = match.groups()
        line = text[: match.start()].count("\n") + 2
        if kind == "python":
            run_python(content, names, page, line)
        else:
            run_commands(content, f"{page.name}, line {line}")


def run_python(content, names, page, line):
    tree = ast.parse(content)
    ast.increment_lineno(tree, line - 1)
    module = type(sys)("page")
    module.__dict__.update(names)
    sys.modules["page"] = module  # dataclasses look their module up
    try:
        exec(compile(tree, str(page), "exec"), module.__dict__)
    finally:
        del sys.modules["page"]
    names.update(module.__dict__)


def run_commands(content, where):
    for command in content.replace("\\\n", " ").splitlines():
        if not command.startswith("$ geomm ") or command == "$ geomm demo":  # a test of its own
            continue
        if command.startswith("$ geomm explore"):  # serves until it is stopped; the browser's tests
            continue
        done = CliRunner().invoke(group, shlex.split(command[len("$ geomm ") :]))
        assert done.exit_code == 0, f"{where}: {command}\n{done.output}\n{done.exception!r}"


def test_every_registered_thing_is_on_its_page():
    for catalog, page in (
        (registry.mappers, "guides/mappers.md"),
        (registry.formats, "reference/formats.md"),
    ):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for name in catalog:
            assert f"`{name}`" in text, f"{name} is not on docs/{page}."
    text = (ROOT / "docs" / "guides" / "evaluation.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in registry.retrievals)


def test_every_hook_has_its_section():
    text = (ROOT / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")
    hooks = [name for name, hook in vars(hookspecs).items() if hasattr(hook, "geomm_plugin_spec")]
    assert "register_mappers" in hooks
    for name in hooks:
        assert f"\n## {name}\n" in text, f"{name} has no section in docs/reference/hooks.md."


def test_every_public_name_is_in_the_reference():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for name in geomm_plugin.__all__:
        assert re.search(rf"^::: geomm_plugin\.{name}$", text, re.MULTILINE), f"{name} is missing."
    for mapper in registry.mappers.values():
        assert f"\n::: {mapper.__module__}\n" in text, f"{mapper.__module__} is missing."


def drawing_after(heading):
    """Return the lines of the drawing that follows a heading of the page about the architecture."""
    text = (ROOT / "docs" / "reference" / "architecture.md").read_text(encoding="utf-8")
    return text.partition(f"## {heading}")[2].split("```")[1].splitlines()[1:]


def test_the_tree_is_drawn_as_it_is():
    drawn, folder = set(), ""
    for line in drawing_after("The tree"):
        name = line.split()[0]
        if not line.startswith(" "):
            folder = name
        elif "*" not in name:
            assert (ROOT / folder / name).exists(), (
                f"docs/reference/architecture.md draws {folder}{name}."
            )
            drawn.add(folder + name)
    for package in ("geomm_plugin/", "adapters/geomm_adapters/"):
        for path in (ROOT / package).iterdir():
            name = package + path.name + ("/" if path.is_dir() else "")
            is_ours = path.suffix == ".py" if path.is_file() else any(path.glob("*.py"))
            if is_ours and (path.is_dir() or package == "geomm_plugin/"):
                assert name in drawn, f"docs/reference/architecture.md, The tree: draw {name}."


def test_the_rule_of_imports_is_the_one_that_is_tested():
    tree = ast.parse((ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8"))
    floors = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS"
    )
    expected = [f"{name + ':':<20}{', '.join(rooms)}" for name, rooms in floors.items()]
    assert drawing_after("The rule of imports") == expected


def test_every_name_of_the_architecture_is_there():
    text = (ROOT / "docs" / "reference" / "architecture.md").read_text(encoding="utf-8")
    names = re.findall(r"`(\w+(?:\.\w+)+)`", text)
    assert names
    for name in names:
        if name.endswith(".py"):
            continue
        package = "" if name.startswith("geomm_") else "geomm_plugin."
        pkgutil.resolve_name(package + name)
    paths = re.findall(r"`((?:geomm_plugin|adapters|tests|examples)/[\w./]*)`", text)
    assert paths
    for path in paths:
        if "NAME" not in path:
            assert (ROOT / path).exists(), path


def test_every_guarantee_has_a_command_that_selects_tests():
    text = (ROOT / "docs" / "reference" / "reliability.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\|.*`(pytest [^`]*)` \|$", text, re.MULTILINE)
    guarantees = re.findall(r"^\| [^*|-].*\.\s*\|", text, re.MULTILINE)
    assert commands
    assert len(guarantees) == len(commands), "Each guarantee needs its one command."
    names = collected_tests()
    for command in commands:
        paths, _, words = command.removeprefix("pytest ").partition(" -k ")
        for path in paths.split():
            assert (ROOT / path).exists(), command
        in_paths = [name for name in names if name.startswith(tuple(paths.split()))]
        wanted = words.strip('"').split(" or ")
        for word in wanted:
            assert any(word in name for name in in_paths), f"{command}: no test for {word!r}."


def collected_tests():
    """Return the names of all tests, as pytest lists them."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_every_file_that_a_page_shows_is_there():
    shown = 0
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.strip().startswith("--8"):
                name = line.strip().removeprefix('--8<-- "').removesuffix('"')
                assert (ROOT / name).is_file(), f"{page}: {line}"
                shown += 1
    assert shown


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of parts of mkdocs among themselves
def test_the_site_is_built_strictly(tmp_path, monkeypatch):
    mkdocs = pytest.importorskip("mkdocs.commands.build")
    pytest.importorskip("mkdocstrings")
    pytest.importorskip("material")
    from mkdocs.config import load_config

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True)
    mkdocs.build(config)
    reference = (tmp_path / "reference" / "adapters" / "index.html").read_text(encoding="utf-8")
    assert "TranslationMatrix" in reference
    commands = (tmp_path / "reference" / "command_line" / "index.html").read_text(encoding="utf-8")
    assert "geomm align" in commands

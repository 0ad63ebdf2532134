"""The pages keep their word: every python block runs, every `$ geomm` line works, links hold.

Blocks of a page run in order and share their names, in a folder that holds the files the pages
speak of, made from the demo data. A block marked `output`, and lines below a `$ geomm` line, show
what is printed, up to small changes of numbers. Blocks marked `py` show parts of files and are not
run. The site is built once, strictly, with its gallery.
"""

import ast
import gc
import gzip
import io
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import geomm_plugin
from geomm_plugin import Embeddings, registry, write_embeddings
from geomm_plugin.cli import COMMANDS, group
from geomm_plugin.demo import FOLDER
from geomm_plugin.registry import hookspecs

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console|output)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?")
NEEDS = {
    "README.md": ["gensim", "matplotlib"],
    "formats.md": ["faiss", "spacy"],
    "gensim.md": ["gensim"],
    "new_model.md": ["pyarrow"],
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
    write_embeddings(demo.embeddings["en"].head(1950), folder / "2000.vec")
    for seed, half in enumerate(("half1", "half2")):
        vectors = demo.embeddings["en"].head(1900).vectors
        noise = np.random.default_rng(seed).normal(size=vectors.shape) * vectors.std()
        noisy = Embeddings(demo.embeddings["en"].words[:1900], vectors + noise)
        write_embeddings(noisy, folder / f"1990.{half}.vec")
    for source, target in demo.train:
        for part, name in ((demo.train, "0-5000"), (demo.test, "5000-6500")):
            lines = "".join(f"{one} {other}\n" for one, other in part[source, target][:800])
            path = folder / f"{source}-{target}.{name}.txt"
            path.write_text(lines, encoding="utf-8")
    lines = "".join(f"{one} {other}\n" for one, other in demo.test["es", "it"][:100])
    (folder / "es-it.5000-6500.txt").write_text(lines, encoding="utf-8")
    for language in ("en", "es"):
        for name, kind in (("sentences", "txt"), ("topics", "tsv")):
            packed = (FOLDER / f"{name}.{language}.{kind}.gz").read_bytes()
            (folder / f"{name}.{language}.{kind}").write_bytes(gzip.decompress(packed))
    (folder / "words.txt").write_text("unfreedoms\n", encoding="utf-8")
    (folder / "words.en.txt").write_text("freedom\nparliament\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fasttext_model(files, demo):
    """Make a small model with subwords, whose words lie about where the demo has them."""
    fasttext = pytest.importorskip("gensim.models.fasttext")
    english = demo.embeddings["en"].head(1500)
    model = fasttext.FastText(
        [english.words], vector_size=english.dimension, min_count=1, bucket=1000, epochs=1,
        workers=1,
    )  # fmt: skip
    model.wv.vectors_vocab[:] = [english[word] for word in model.wv.index_to_key]
    model.wv.vectors_ngrams *= 0.1
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
def test_everything_on_a_page_runs(page, files, plugins, tmp_path, monkeypatch, request):
    for module in NEEDS.get(page.name, ()):
        pytest.importorskip(module)
    text = page.read_text(encoding="utf-8")
    if ".bin" in text and page.name in ("unseen_words.md",):
        request.getfixturevalue("fasttext_model")
    own = shutil.copytree(files, tmp_path / "files")  # no page finds what another one left
    monkeypatch.chdir(own)
    names, printed = {"__name__": "page"}, ""
    for match in BLOCK.finditer(text):
        kind, content = match.groups()
        line = text[: match.start()].count("\n") + 2
        where = f"{page.name}, line {line}"
        if kind == "python":
            printed = run_python(content, names, page, line)
        elif kind == "console":
            run_commands(content, where)
        else:
            assert_shown(content, printed, where)
    names.clear()
    gc.collect()  # a file that a page leaves open is closed here, where that is no warning


def run_python(content, names, page, line):
    """Run a block, and return what it printed."""
    tree = ast.parse(content)
    ast.increment_lineno(tree, line - 1)
    module = type(sys)("page")
    module.__dict__.update(names)
    sys.modules["page"] = module  # dataclasses look their module up
    try:
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(tree, str(page), "exec"), module.__dict__)
    finally:
        del sys.modules["page"]
    names.update(module.__dict__)
    return printed.getvalue()


def run_commands(content, where):
    """Run the lines of a block that begin with `$ geomm`; compare with the lines below them."""
    for part in content.replace("\\\n", " ").split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        if not command.startswith("geomm ") or command == "geomm demo":  # a test of its own
            continue
        if command.startswith("geomm explore"):  # serves until it is stopped; the browser's tests
            continue
        done = CliRunner().invoke(group, shlex.split(command, comments=True)[1:])
        assert done.exit_code == 0, f"{where}: {command}\n{done.output}\n{done.exception!r}"
        if shown.strip():
            assert_shown(shown, done.stdout, where)


def assert_shown(shown, printed, where):
    """Compare what a page shows with what was printed; numbers may differ by 0.02."""
    shown, printed = shown.strip(), printed.strip()
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", printed), f"{where} shows\n{shown}\n{printed}"
    numbers = [[float(x.replace("−", "-")) for x in NUMBER.findall(y)] for y in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.02), f"{where} shows\n{shown}\n{printed}"


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
    assert "register_mappers" in hooks()
    for name in hooks():
        assert f"\n## {name}\n" in text, f"{name} has no section in docs/reference/hooks.md."


def hooks():
    return [name for name, hook in vars(hookspecs).items() if hasattr(hook, "geomm_plugin_spec")]


def test_every_public_name_is_in_the_reference():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for name in geomm_plugin.__all__:
        assert re.search(rf"^::: geomm_plugin\.{name}$", text, re.MULTILINE), f"{name} is missing."


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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does."""
    mkdocs = pytest.importorskip("mkdocs.commands.build")
    for module in ("mkdocstrings", "material", "matplotlib"):
        pytest.importorskip(module)
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of parts of mkdocs among themselves
        patch.chdir(ROOT)
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        mkdocs.build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def html(site, address):
    return (site / address / "index.html").read_text(encoding="utf-8")


def test_the_reference_is_made_of_the_code(site):
    assert "TranslationMatrix" in html(site, "reference/adapters")
    choices = html(site, "guides/mappers")
    for mapper in registry.mappers.values():
        page = f"reference/mappers/{mapper.__module__.rpartition('.')[2]}"
        assert f"{mapper.__name__}" in html(site, page)
        assert f'href="../../{page}/"' in choices


def test_every_option_of_a_command_has_an_address(site):
    assert 'href="../commands/align/"' in html(site, "reference/command_line")
    assert 'id="max-words"' in html(site, "reference/commands/align")
    assert 'id="lambda-output"' in html(site, "reference/commands/plot")
    for name in COMMANDS:
        assert 'id="help"' in html(site, f"reference/commands/{name}")


def test_the_drawing_shows_what_is_registered(site):
    drawing = html(site, "how_a_map_is_made")
    for hook in hooks():
        assert f"hooks/#{hook}" in drawing, f"docs/hooks/registered.py: draw {hook}."
    for kind in ("formats", "seeds", "mappers", "retrievals", "features", "metrics", "tasks"):
        for name in getattr(registry, kind):
            assert f"<code>{name}</code>" in drawing


def test_every_script_of_the_gallery_has_a_page(site):
    cards = html(site, "gallery")
    scripts = sorted((ROOT / "examples" / "gallery").glob("*.py"))
    assert len(scripts) >= 12
    for path in scripts:
        page = html(site, f"gallery/{path.stem}")
        for scheme in ("light", "dark"):
            pictures = re.findall(rf'src="\.\./([\w-]+\.{scheme}\.svg)', page)
            assert pictures and all((site / "gallery" / name).is_file() for name in pictures)
        assert f'src="{path.stem}-' in cards and f'href="{path.stem}/"' in cards
        assert (site / "gallery" / f"{path.stem}.py.txt").read_text("utf-8") == path.read_text(
            "utf-8"
        )
        notebook = json.loads((site / "gallery" / f"{path.stem}.ipynb").read_text("utf-8"))
        code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        ast.parse("\n".join(code))
        assert notebook["nbformat"] == 4 and code


def test_no_page_fetches_anything_from_elsewhere(site):
    fetched = re.compile(r'(?:<script[^>]*src|<img[^>]*src|<link[^>]*stylesheet[^>]*href)="https?:')
    for path in site.rglob("*.html"):
        assert not fetched.search(path.read_text(encoding="utf-8")), path

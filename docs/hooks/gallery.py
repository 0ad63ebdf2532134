"""The gallery: each script of examples/gallery runs when the site is built and becomes a page.

    # %%                                a cell of code begins
    # A comment right below is its text, in Markdown.

The docstring holds the title and the introduction. What a cell prints and draws stands below it;
pictures are saved once, for light and for dark pages. A notebook is made of the same cells.
Scripts run in processes of their own, one a core; what they gave is kept in .cache/gallery until a
script or the package changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"
CACHE = ROOT / ".cache" / "gallery"
ORDER = (  # of the cards
    "before_and_after", "hubs", "lambda_path", "dictionary_size", "through_english", "letters",
    "errors_by_frequency", "no_dictionary", "two_times", "new_model", "sentences",
    "your_own_mapper",
)  # fmt: skip
MARK = "<!-- the gallery -->"
WIDE = 6.5  # inches; the words of a wider picture cannot be read on a phone, so it scrolls there


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files of the site: run all scripts, add their pages."""
    names = {path.stem for path in SCRIPTS.glob("*.py")}
    assert names == set(ORDER), f"docs/hooks/gallery.py, ORDER: {names ^ set(ORDER)}."
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        folders = dict(zip(ORDER, pool.map(results_of, ORDER), strict=True))
    for name, folder in folders.items():
        for path in sorted(folder.glob("*.svg")):
            add(files, config, f"{path.name}", abs_src_path=str(path))
        cells = cells_of(name)
        add(files, config, f"{name}.py.txt", content=script(name))
        add(files, config, f"{name}.ipynb", content=json.dumps(notebook(name, cells), indent=1))
        add(files, config, f"{name}.md", content=page(name, cells, folder))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return markdown.replace(MARK, cards()) if MARK in markdown else markdown


def add(files: Files, config: MkDocsConfig, name: str, **content: Any) -> None:
    """Add a file to the folder of the gallery."""
    files.append(File.generated(config, f"gallery/{name}", **content))


def script(name: str) -> str:
    """Return the text of a script."""
    return (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")


def title_and_text(name: str) -> tuple[str, str]:
    """Return what the docstring of a script holds."""
    title, _, text = script(name).split('"""')[1].partition("\n\n")
    return title.strip().removesuffix("."), text.strip()


def cells_of(name: str) -> list[tuple[str, str]]:
    """Return the cells of a script: text and code."""
    cells = []
    for part in re.split(r"^# %%\n", script(name), flags=re.MULTILINE)[1:]:
        comment = re.match(r"(?:#.*\n)*", part)
        assert comment
        text = re.sub(r"^# ?", "", comment[0], flags=re.MULTILINE)
        cells.append((text.strip(), part[comment.end() :].strip()))
    return cells


def results_of(name: str) -> Path:
    """Run a script, unless it was run before as it is, and return the folder of its results."""
    state = hashlib.sha256(script(name).encode() + Path(__file__).read_bytes() + package())
    folder = CACHE / f"{name}-{state.hexdigest()[:16]}"
    if not (folder / "outputs.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, __file__, name, str(folder)],
            env=os.environ | {"PYTHONPATH": paths, "MPLBACKEND": "Agg"} | threads,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            raise RuntimeError(f"examples/gallery/{name}.py failed:\n{done.stderr}")
    return folder


def package() -> bytes:
    """Return a hash of the package's code."""
    paths = sorted(
        path
        for part in ("geomm_plugin", "adapters/geomm_adapters")
        for path in (ROOT / part).rglob("*.py")
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()


def run(name: str, folder: Path) -> None:
    """Run the cells of a script in this process, and save what they print and draw."""
    import contextlib
    import io

    import matplotlib.pyplot as plt

    from geomm_plugin.views.palette import SERIES, SURFACES

    light, dark = SURFACES["light"], SURFACES["dark"]
    ink = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
    plt.rcParams.update(dict.fromkeys(ink, light["text"]))
    plt.rcParams.update({"axes.edgecolor": light["muted"], "legend.frameon": False})
    plt.rcParams.update({"figure.facecolor": "none", "axes.facecolor": "none"})
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    plt.rcParams.update(
        {"svg.hashsalt": name, "axes.prop_cycle": plt.cycler(color=SERIES["light"])}
    )
    swaps = {
        light["text"]: dark["text"],
        light["muted"]: dark["muted"],
        **dict(zip(SERIES["light"], SERIES["dark"], strict=True)),
    }
    outputs, names = [], {"__name__": "__main__"}
    sys.modules["__main__"].__dict__.update(names)  # dataclasses look their module up
    for _, code in cells_of(name):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{name}.py", "exec"), sys.modules["__main__"].__dict__)
        pictures = []
        for number in plt.get_fignums():
            stem = f"{name}-{len(outputs)}-{number}"
            picture = io.StringIO()
            plt.figure(number).savefig(
                picture, format="svg", metadata={"Date": None}, bbox_inches="tight"
            )
            svg = picture.getvalue()
            (folder / f"{stem}.light.svg").write_text(svg, encoding="utf-8")
            inks = re.compile("|".join(swaps))
            svg = inks.sub(lambda found: swaps[found[0]], svg)
            (folder / f"{stem}.dark.svg").write_text(svg, encoding="utf-8")
            pictures.append(stem)
        plt.close("all")
        outputs.append({"printed": printed.getvalue().rstrip(), "pictures": pictures})
    (folder / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")


def picture_of(stem: str, title: str, mark: str = "") -> str:
    """Return a picture in Markdown, for light and for dark pages."""
    names = ((f"{stem}.{shade}.svg#only-{shade}") for shade in ("light", "dark"))
    return "\n".join(f"![{title}]({name}){{ loading=lazy {mark} }}" for name in names)


def width_of(folder: Path, stem: str) -> float:
    """Return how wide a picture is, in inches."""
    svg = (folder / f"{stem}.light.svg").read_text(encoding="utf-8")
    found = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    assert found
    return float(found[1]) / 72


def page(name: str, cells: list[tuple[str, str]], folder: Path) -> str:
    """Return the page of a script, with what it gave."""
    outputs = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))
    title, text = title_and_text(name)
    lines = [f"[Gallery](../gallery.md)\n\n# {title}\n\n{text}\n"]
    for (comment, code), output in zip(cells, outputs, strict=True):
        lines.append(comment + "\n")
        if code:
            lines.append(f"``` {{ .py }}\n{code}\n```\n")
        if output["printed"]:
            lines.append(f"```output\n{output['printed']}\n```\n")
        for stem in output["pictures"]:
            mark = ".wide" if width_of(folder, stem) > WIDE else ""
            lines.append(picture_of(stem, title, mark) + "\n")
    lines.append(f"[Script]({name}.py.txt){{ download={name}.py }} · ")
    lines.append(f"[Notebook]({name}.ipynb){{ download }}")
    return "\n".join(lines)


def notebook(name: str, cells: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the cells as a notebook."""
    title, text = title_and_text(name)
    made: list[dict[str, Any]] = []

    def add_cell(kind: str, source: str) -> None:
        code = {"outputs": [], "execution_count": None} if kind == "code" else {}
        cell = {"cell_type": kind, "id": str(len(made)), "metadata": {}}
        made.append(cell | code | {"source": source})

    add_cell("markdown", f"# {title}\n\n{text}\n\n`pip install 'geomm-plugin[plot]'`")
    for comment, code in cells:
        if comment:
            add_cell("markdown", comment)
        if code:
            add_cell("code", code)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return about | {"cells": made}


def cards() -> str:
    """Return a card for each page: its first picture and its title."""
    lines = ['<div class="cards" markdown>']
    for name in ORDER:
        title, text = title_and_text(name)
        outputs = json.loads((results_of(name) / "outputs.json").read_text(encoding="utf-8"))
        first = next(stem for output in outputs for stem in output["pictures"])
        picture, sentence = picture_of(f"gallery/{first}", title), text.partition(". ")[0]
        lines.append(f"<div markdown>\n\n[{picture}](gallery/{name}.md)\n")
        lines.append(f"**[{title}](gallery/{name}.md)**\n\n{sentence.removesuffix('.')}.\n\n</div>")
    return "\n".join([*lines, "</div>"])


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]))

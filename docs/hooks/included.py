"""Files outside docs/ that pages show or give: measured tables, what to type, the notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
MEASURED, TYPED = "<!-- benchmarks/RESULTS.md -->", "<!-- README.md: what to type -->"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files of the site."""
    for path in ("benchmarks/growth.svg", "examples/one_space.ipynb"):
        files.append(File.generated(config, Path(path).name, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    if MEASURED in markdown:
        markdown = markdown.replace(MEASURED, measured())
    return markdown.replace(TYPED, typed()) if TYPED in markdown else markdown


def measured() -> str:
    """Return what `make benchmark` wrote, below a heading of the page."""
    text = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    _, _, text = text.partition("says how to read it.\n")
    return re.sub(r"^## ", "### ", text.strip(), flags=re.MULTILINE)


def typed() -> str:
    """Return README's table of what to type."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| I have .*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table, "README.md has no table that begins with '| I have'."
    return f'<div class="stack" markdown>\n\n{table[0].replace("](docs/", "](")}\n\n</div>'

"""What is registered, put into pages when the site is built: how a map is made, a page a mapper."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from geomm_plugin import registry

DRAWING, LIST = "<!-- how a map is made -->", "<!-- the mappers -->"
STEPS = (  # what happens, and the hook that adds to it with what is registered there
    ("Read", "Files and objects of other libraries become words and rows.", "formats"),
    ("Normalize", "Each language by itself: length 1, mean 0, or what a mapper asks for.", ""),
    ("Pair up", "A dictionary becomes pairs of rows. Without one, a seed finds pairs.", "seeds"),
    ("Fit", "A mapper learns one matrix for each language.", "mappers"),
    ("Space", "All words of all languages, mapped when they are asked for.", ""),
    ("Retrieve", "A score ranks the words of the other language.", "retrievals"),
    ("Re-rank", "Features add what vectors do not know.", "features"),
    ("Evaluate", "Ranks become numbers; sentences and topics are tasks, too.", "metrics tasks"),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files of the site."""
    for module, classes in modules().items():
        names = ", ".join(f"`{each.name}`" for each in classes)
        members = ", ".join(each.__name__ for each in classes)
        options = f"members: [{members}], show_root_heading: false, show_root_toc_entry: false"
        text = (
            f"[Mappers](../mappers.md)\n\n# {names}\n\n::: {module}\n"
            f"    options: {{ {options}, heading_level: 2 }}\n"
        )
        files.append(File.generated(config, f"reference/{page_of(classes[0])}", content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Called by mkdocs for each page."""
    if page.file.src_uri == "guides/mappers.md":
        return re.sub(r"`(\w+)`(?=[^|\n]*\|)", link, markdown)
    return markdown.replace(DRAWING, drawing()).replace(LIST, listed())


def modules() -> dict[str, list[Any]]:
    """Return the classes of mappers by module, in the order of `geomm mappers`."""
    found: dict[str, list[Any]] = {}
    for mapper in registry.mappers.values():
        found.setdefault(mapper.__module__, []).append(mapper)
    return found


def page_of(mapper: Any) -> str:
    """Return the page of a mapper, from the reference."""
    return f"mappers/{mapper.__module__.rpartition('.')[2]}.md"


def link(match: re.Match[str]) -> str:
    """Return a name in a table with a link, if it is a mapper's."""
    name = match[1]
    if name not in registry.mappers:
        return match[0]
    return f"[`{name}`](../reference/{page_of(registry.mappers[name])})"


def listed() -> str:
    """Return a table of all mappers."""
    rows = [
        f"| [`{mapper.name}`]({page_of(mapper)}) | {mapper.__doc__.splitlines()[0]} |"
        for classes in modules().values()
        for mapper in classes
    ]
    return "\n".join(["| name | what it does |", "|---|---|", *rows])


def drawing() -> str:
    """Return the steps as boxes."""
    return "\n".join(['<ol class="steps">', *map(box, STEPS), "</ol>"])


def box(step: tuple[str, str, str]) -> str:
    """Return one step: its name, what happens, its hooks and what is registered there."""
    title, text, kinds = step
    lines = [f"<li><strong>{title}</strong><p>{text}</p>"]
    for kind in kinds.split():
        hook = f"register_{kind}"
        chips = " ".join(f"<code>{escape(name)}</code>" for name in getattr(registry, kind))
        lines.append(f'<p><a href="../reference/hooks/#{hook}"><code>{hook}</code></a></p>')
        lines.append(f'<p class="names">{chips}</p>')
    return "".join([*lines, "</li>"])

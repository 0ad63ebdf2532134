"""A page for each command, made of its --help when the site is built; options have addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from textwrap import dedent
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from geomm_plugin.cli import COMMANDS, group

MARK = "<!-- the commands -->"
FOLDER = "reference/commands"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the files of the site."""
    context = click.Context(group, info_name="geomm", **group.context_settings)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command
        lines = ["[Commands](../command_line.md)\n", *section(context, name, command, "#")]
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content="\n".join(lines)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    rows = [f"| [`geomm {name}`](commands/{name}.md) | {text} |" for name, text in COMMANDS.items()]
    return markdown.replace(MARK, "\n".join(["| command | what it does |", "|---|---|", *rows]))


def section(parent: click.Context, name: str, command: click.Command, marks: str) -> Iterator[str]:
    """Give the lines of a command, and of the commands in it."""
    context = click.Context(command, parent, name)
    help_of = Help()
    command.format_help(context, help_of)
    yield f"{marks} {context.command_path}\n"
    prefix = "" if marks == "#" else f"{name}-"
    within = command.commands if isinstance(command, click.Group) else {}
    yield from help_of.parts(prefix, f"{marks}#", skip=set(within))
    for each in within.items():
        yield from section(context, *each, f"{marks}#")


class Help(click.HelpFormatter):
    """Keeps what a command says of itself instead of laying it out for a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[str, Any]] = []

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Keep the line of usage."""
        self.kept.append(("usage", f"{prog} {args}"))

    def write_text(self, text: str) -> None:
        """Keep paragraphs."""
        self.kept.append(("text", dedent(text)))

    def write_dl(self, rows: Sequence[tuple[str, str]], *_: Any, **__: Any) -> None:
        """Keep options and what they do."""
        self.kept.append(("options", rows))

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Keep the heading of a group of options."""
        self.kept.append(("heading", name))
        yield

    def parts(self, prefix: str, marks: str, skip: set[str]) -> Iterator[str]:
        """Give it as Markdown; headings of options have addresses like #max-words."""
        for kind, content in self.kept:
            if kind == "usage":
                yield f"```text\n{content}\n```\n"
            elif kind == "text":
                yield from map(paragraph, re.split(r"\n\s*\n", content))
            elif kind == "heading" and content != "Commands":
                yield f"{marks} {content} {{ #{prefix}{content.lower()} }}\n"
            elif kind == "options":
                for names, text in content:
                    if names not in skip:
                        address = prefix + long_name(names)
                        yield f"{marks}# `{names}` {{ #{address} .option }}\n\n{escape(text)}\n"


def paragraph(text: str) -> str:
    """Return a paragraph; what follows `Example:` is a block of code."""
    before, example, code = text.removeprefix("\b\n").partition("Example:\n")
    before = escape(" ".join(before.split()), quote=False)
    lines = [f"$ {x}" if x.startswith("geomm") else x for x in dedent(code).rstrip().splitlines()]
    block = "\n".join(["```console", *lines, "```"]) if example else ""
    return f"{before}\n\n{block}\n"


def long_name(names: str) -> str:
    """Return max-words for `-w, --max-words N`."""
    found = re.search(r"--([\w-]+)", names)
    return found[1] if found else names.split()[0].strip("-").lower()

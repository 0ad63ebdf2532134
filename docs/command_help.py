"""Puts the help of every command into its page when the site is built, so that it cannot rot."""

from typing import Any

import click

MARK = "<!-- the help of every command -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return markdown.replace(MARK, help_of_commands()) if MARK in markdown else markdown


def help_of_commands() -> str:
    """Return a section for each command."""
    from geomm_plugin.cli import COMMANDS, group

    sections = []
    context = click.Context(group, info_name="geomm")
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        text = command.get_help(click.Context(command, context, name, max_content_width=100))
        sections.append(f"## geomm {name}\n\n```text\n{text}\n```\n")
    return "\n".join(sections)

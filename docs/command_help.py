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

    context = click.Context(group, info_name="geomm", **group.context_settings)
    commands = ((name, group.get_command(context, name)) for name in COMMANDS)
    return "\n".join(_sections(context, name, command) for name, command in commands if command)


def _sections(parent: click.Context, name: str, command: click.Command) -> str:
    """Return the section of a command, and those of the commands in it."""
    context = click.Context(command, parent, name, max_content_width=84)
    text = f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    within = command.commands if isinstance(command, click.Group) else {}
    return "\n".join([text, *(_sections(context, *each) for each in within.items())])

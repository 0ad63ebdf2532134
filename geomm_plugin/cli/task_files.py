"""The options that give a registered task its files, and the task made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from click.core import ParameterSource

from geomm_plugin import registry
from geomm_plugin.cli import forms
from geomm_plugin.errors import ParameterError, UnknownNameError, did_you_mean
from geomm_plugin.evaluation.task import Task
from geomm_plugin.parameters import split_specs
from geomm_plugin.retrieval import Retrieval

texts_option = click.option(
    "--texts",
    multiple=True,
    type=forms.LANG_FILE,
    help="For sentences: one sentence a line, the same one in each file. Repeatable.",
)
train_option = click.option(
    "--train",
    multiple=True,
    type=forms.LANG_FILE,
    help="For classify: label<TAB>text, one a line, to learn from. Repeatable.",
)
OPTIONS = {"tests": "test", "texts": "texts", "train": "train"}  # parameter -> role of its files
FOR_WORDS = ("metrics", "by", "oov")  # parameters that no task has


def make_task(
    name: str, files: Mapping[str, Sequence[str]], retrievals: Sequence[Retrieval]
) -> Task:
    """Make the registered task from LANG=FILE options by role; each role that it has must be there.

    Parameters
    ----------
    retrievals
        Passed on only if they were typed; a task has its own choice.
    """
    if name not in registry.tasks:
        known = ["bli", "similarity", "analogy", *registry.tasks]
        raise UnknownNameError(
            f"There is no task {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}."
        )
    task = registry.tasks[name]
    typed = _typed()
    for parameter, option in typed.items():
        role = OPTIONS.get(parameter)
        unused = (
            parameter in FOR_WORDS
            or (parameter == "retrievals" and not task.ranks)
            or (role is not None and role not in task.roles)
        )
        if unused:
            raise ParameterError(f"{option} is not for --task {name}. Leave it out.")
    for role in task.roles:
        if not files[role]:
            raise ParameterError(f"--task {name} needs --{role} LANG=FILE.")
    read = {role: split_specs(files[role], "LANG=FILE, e.g. en=en.txt") for role in task.roles}
    return task.from_files(read, retrievals if "retrievals" in typed else ())


def _typed() -> dict[str, str]:
    """Return the parameters that were typed, with the option that each belongs to."""
    context = click.get_current_context()
    return {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if parameter.name is not None
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }

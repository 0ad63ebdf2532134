"""The options that give a registered task its files, and the task made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin import registry
from geomm_plugin.cli import forms
from geomm_plugin.errors import ParameterError, UnknownNameError, did_you_mean
from geomm_plugin.evaluation.task import Task
from geomm_plugin.registry.parameters import split_specs
from geomm_plugin.retrieval import Reranked, Retrieval
from geomm_plugin.source_file import SourceFile

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
ROLES = ("test", "texts", "train")  # parameters that are a role of files
FOR_WORDS = ("metric", "by", "oov")  # parameters that no task has

Files = tuple[tuple[str, SourceFile], ...]  # each with what it was for: "texts en", "test es"


def make_tasks(
    names: Sequence[str],
    files: Mapping[str, Sequence[str]],
    retrievals: Sequence[Retrieval],
    *,
    beside_words: bool = False,
) -> tuple[list[Task], Files]:
    """Make registered tasks from LANG=FILE options by role; return them, and the files.

    Each role that a task has must be there, and what no task has is refused.

    Parameters
    ----------
    retrievals
        Passed on only if they were typed; a task has its own choice.
    beside_words
        Whether words are translated, too, so that their options are in use.
    """
    chosen = [_find_task(name) for name in dict.fromkeys(names)]
    roles = dict.fromkeys(role for task in chosen for role in task.roles)
    typed = _typed()
    shown = " ".join(f"--task {task.name}" for task in chosen) or "translation alone"
    for parameter, option in typed.items():
        if beside_words and parameter in (*FOR_WORDS, "retrieval", "test"):
            continue
        unused = (
            parameter in FOR_WORDS
            or (parameter == "retrieval" and not any(task.ranks for task in chosen))
            or (parameter in ROLES and parameter not in roles)
        )
        if unused:
            raise ParameterError(f"{option} is not for {shown}. Leave it out.")
    for task in chosen:
        for role in task.roles:
            if not files[role]:
                raise ParameterError(f"--task {task.name} needs --{role} LANG=FILE.")
    paths = {role: split_specs(files[role], "LANG=FILE, e.g. en=en.txt") for role in roles}
    ranked = [retrieval for retrieval in retrievals if not isinstance(retrieval, Reranked)]
    given = ranked if beside_words else retrievals
    tasks = [
        task.from_files(
            {role: paths[role] for role in task.roles}, given if "retrieval" in typed else ()
        )
        for task in chosen
    ]
    return tasks, _files(paths)


def _find_task(name: str) -> type[Task]:
    if name not in registry.tasks:
        known = list(registry.tasks)
        raise UnknownNameError(
            f"There is no task {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}."
        )
    if registry.tasks[name].of_pairs:
        raise ParameterError(
            f"The task {name} is scored by `geomm evaluate --task {name}`: --test LANG-LANG=FILE "
            "of this command is a test dictionary."
        )
    return registry.tasks[name]


def _files(paths: Mapping[str, Mapping[str, str]]) -> Files:
    return tuple(
        (f"{role} {language}", SourceFile.read_from(Path(path), role))
        for role, by_language in paths.items()
        for language, path in by_language.items()
    )


def _typed() -> dict[str, str]:
    """Return the parameters that were typed, with the option that each belongs to."""
    context = click.get_current_context()
    return {
        parameter.name: parameter.opts[0]
        for parameter in context.command.params
        if parameter.name is not None
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }

"""Options that mean the same in every command.

A *group* adds several options to a command, which gets them as one object: `@fit_options("geomm")`
gives it `fit: Fit`. What is not in a group a command passes on under the name of its option.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from geomm_plugin import load_mapper, progress
from geomm_plugin.alignment import aligned_space
from geomm_plugin.alignment.inputs import with_alike_words
from geomm_plugin.cli import forms
from geomm_plugin.cli.config import Command, use_file
from geomm_plugin.cli.forms import language_files, language_pair
from geomm_plugin.cli.terminal import show, show_data, show_json
from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.evaluation.table import Table
from geomm_plugin.evaluation.task import as_retrievals
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.formats import read_languages
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_mapper
from geomm_plugin.registry.parameters import split_spec
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

CORES = "Work on so many cores at the same time; -1 is all of them. The result is the same."
THREADS = (
    "Compare words in so many threads; -1 is one for each core. By default the threads of BLAS "
    "share the products alone. The result is the same."
)
WRITTEN = "Print what was written as one JSON object."  # the help of --json


def as_command(function: Callable[..., Any]) -> Command:
    """Make a function a command."""
    return click.command(cls=Command)(function)


def option(names: str, text: str, **settings: Any) -> Decorator:
    """Return an option by its names, "--output -o", its help, and what else click takes."""
    return click.option(*names.split(), help=text, **settings)


def switch(names: str, text: str) -> Decorator:
    """Return an option without a value."""
    return option(names, text, is_flag=True)


def several(names: str, text: str, **settings: Any) -> Decorator:
    """Return an option that may be given more than once."""
    return option(names, f"{text} Repeatable.", multiple=True, **settings)


def as_group(group: str, kind: type, *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, which gets their values as one object.

    The fields of `kind` are named as the options; one that a command lacks has its default.
    """

    def add(command: Any) -> Any:
        before = len(getattr(command, "__click_params__", ()))

        @functools.wraps(command)
        def with_group(*args: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in names & values.keys()}
            return command(*args, **values, **{group: kind(**own)})

        added: Any = with_group
        for each in reversed(options):
            added = each(added)
        names = {parameter.name for parameter in added.__click_params__[before:]}
        return added

    return add


config_option = option(
    "--config",
    "Take options from this TOML file; those on the command line win.",
    type=forms.FILE,
    is_eager=True,
    expose_value=False,
    callback=use_file,
)


@dataclass(frozen=True)
class Fit:
    """What is fitted, and from which dictionaries."""

    mapper: Any  # the text that chooses one, or a tuple of them
    set: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    identical: tuple[str, ...] = ()
    cognates: tuple[str, ...] = ()
    encoding: str | None = None

    @property
    def has_dictionaries(self) -> bool:
        """Whether there is something to learn from."""
        return bool(self.dictionary or self.identical or self.cognates)

    def make_mapper(self) -> Mapper:
        """Return the one mapper chosen."""
        return as_mapper(self.mapper, self.set)

    def make_mappers(self) -> list[Mapper]:
        """Return all mappers chosen."""
        return choose_mappers(self.mapper, self.set)

    def check(self, mappers: Iterable[Mapper]) -> None:
        """Refuse mappers that have nothing to learn from."""
        if not self.has_dictionaries and any(mapper.needs_dictionary for mapper in mappers):
            raise ParameterError(
                "There is nothing to learn from. Give --dictionary LANG-LANG=FILE, or --identical "
                "LANG-LANG to take words that are spelt alike, or choose a mapper that needs no "
                "dictionary: --mapper geomm_unsup."
            )

    def read(self, embeddings: Mapping[str, Embeddings]) -> dict[tuple[str, str], Dictionary]:
        """Read the dictionaries; make those of identical words and cognates."""
        pairs = read_pairs(self.dictionary, embeddings)
        return with_alike_words(pairs, embeddings, *self.alike(embeddings))

    def alike(self, languages: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
        """Yield the pairs of languages whose identical words are a dictionary, and of cognates."""
        for names in (self.identical, self.cognates):
            yield [language_pair(name, languages) for name in names]


def fit_options(
    default: str | tuple[str, ...], *, learns: bool = True, what: str = ""
) -> Decorator:
    """Add what is fitted, and from what; the command gets it as `fit`.

    Parameters
    ----------
    default
        A mapper; a tuple of them where several may be chosen.
    learns
        Whether there are dictionaries.
    what
        What the mapper is for, in the help.
    """
    many = isinstance(default, tuple)
    usual = "A name that `geomm mappers` lists, e.g. geomm:regularization=100" + ", or all" * many
    kind, form = (several, forms.MAPPERS) if many else (option, forms.MAPPER)
    mapper = kind("--mapper -m", what or f"{usual}.", default=default, type=form)
    parameter = several(
        "--set -s", "A parameter of the mapper, e.g. regularization=100.", type=forms.SETTING
    )
    return as_group("fit", Fit, *(_dictionary_options if learns else ()), mapper, parameter)


encoding_option = option(
    "--encoding",
    "The encoding of dictionaries that are not in UTF-8, e.g. latin-1.",
    metavar="NAME",
)
_dictionary_options = (
    several(
        "--dictionary -d",
        "Training dictionary of a pair of languages, e.g. en-es=en-es.0-5000.txt.",
        type=forms.PAIR_FILE,
    ),
    several(
        "--identical",
        "Use the words that both languages spell alike as a dictionary.",
        type=forms.PAIR,
    ),
    several(
        "--cognates",
        "Use the words that are each other's most alike in spelling as a dictionary.",
        type=forms.PAIR,
    ),
    encoding_option,
)
tests_option = several(
    "--test -t",
    "Test dictionary of a pair of languages, e.g. en-es=en-es.5000-6500.txt.",
    required=True,
    type=forms.PAIR_FILE,
)
RANKED = "How target words are ranked, e.g. cosine or csls:k=5."
retrieval_option = option("--retrieval -r", RANKED, default="csls", type=forms.RETRIEVAL)
precision_option = option(
    "--precision",
    "Digits after the decimal point in text files, e.g. 5; by default all that float32 has.",
    type=click.IntRange(min=1, max=20),
    metavar="DIGITS",
)


@dataclass(frozen=True)
class SpaceFiles:
    """The files of embeddings, and the saved mapper, if they are not aligned already."""

    max_words: int | None
    embeddings: tuple[str, ...] = ()
    model: Path | None = None

    @cached_property
    def mapper(self) -> Mapper | None:
        """The saved mapper, if one was named."""
        return None if self.model is None else load_mapper(self.model)

    def read(self, specs: Sequence[str] | None = None) -> dict[str, Embeddings]:
        """Read all files, or some; all paths are looked at before the first file is read."""
        chosen = language_files(self.embeddings if specs is None else specs)
        return read_languages(chosen, max_words=self.max_words)

    def space_of(self, read: Mapping[str, Embeddings]) -> SharedSpace:
        """Return the space of what was read: mapped, or aligned already, as far as can be seen."""
        if self.mapper is not None:
            return self.mapper.map(read)
        from geomm_plugin.fitting.confirmation import warn_if_apart

        space = aligned_space(read)
        warn_if_apart(space)
        return space


def space_options(
    arguments: str = "LANG=FILE...", *, required: bool = True, model: str = ""
) -> Decorator:
    """Add what is read; the command gets it as `files`.

    Parameters
    ----------
    arguments
        Their form; where they are not files alone, the command itself finds the files among them.
    model
        The help of --model, if there is one.
    """
    settings: Any = {"nargs": -1, "required": required, "type": forms.LANG_FILE}
    options: list[Decorator] = [
        click.argument("embeddings", metavar=arguments, **settings),
        option(
            "--max-words",
            "Read only the first (most frequent) N words of each file.",
            type=forms.COUNT,
            metavar="N",
        ),
    ]
    if model:
        options.append(option("--model", model, type=forms.PATH))
    return as_group("files", SpaceFiles, *options)


@dataclass(frozen=True)
class Run:
    """How a command runs, and what it prints at its end."""

    quiet: bool = False
    json: bool = False
    jobs: int | None = None
    cluster: str | None = None

    def shown(self) -> AbstractContextManager[None]:
        """Show the progress of what is done inside."""
        return progress.shown(self.quiet)

    def report(self, content: Any, text: object = "") -> None:
        """Print JSON, if it was asked for, or a text, unless nothing is to be printed."""
        if self.json:
            show_json(json.dumps(content, ensure_ascii=False))
        elif not self.quiet:
            show(text)


def run_options(
    *, jobs: str = "", default: int | None = 1, cluster: bool = False, as_json: str = ""
) -> Decorator:
    """Add --quiet and --verbose, and what a command has of --jobs, --cluster and --json, as `run`.

    Parameters
    ----------
    jobs, default
        The help of --jobs, if there is such an option, and how many they are.
    as_json
        What --json has an object for, if there is such an option; or WRITTEN.
    """
    options = [
        switch("--quiet -q", "No progress and no summary."),
        option(
            "--verbose -v",
            "A line for each stage on standard error: what, how much, how long.",
            is_flag=True,
            expose_value=False,
            callback=lambda context, _, value: value and context.with_resource(progress.verbose()),
        ),
    ]
    if jobs:
        options.append(option("--jobs -j", jobs, type=int, default=default, metavar="N"))
    if cluster:
        text = "Work on a Dask cluster, e.g. tcp://scheduler:8786, which must see the same files."
        options.append(option("--cluster", text, metavar="ADDRESS"))
    if as_json:
        options.append(json_option(as_json))
    return as_group("run", Run, *options)


def json_option(each: str) -> Decorator:
    """Return the option --json, which prints an object for each of something."""
    text = each if each == WRITTEN else f"Print a JSON list, one object {each}."
    return switch("--json", text)


@dataclass(frozen=True)
class TableOutput:
    """How a command was asked to show its table; by default as columns of text."""

    markdown: bool
    csv: bool
    json: bool
    latex: Path | None

    def __post_init__(self) -> None:
        if self.markdown + self.csv + self.json > 1:
            raise ParameterError("Choose one of --markdown, --csv and --json.")

    def show(self, table: Table) -> None:
        """Print the table, and, whether it could be printed or not, write it as LaTeX if asked."""
        try:
            if self.json:
                show_json(table.to_json())
            elif self.csv:
                show_data(table.to_csv())
            elif self.markdown:
                show(table.to_markdown(), nl=False)
            else:
                show(table)
        finally:
            if self.latex is not None:
                write_text(self.latex, table.to_latex())


table_options = as_group(
    "output",
    TableOutput,
    switch("--markdown", "Print the table in Markdown."),
    switch("--csv", "Print all numbers as CSV."),
    json_option("a row"),
    option("--latex", "Write the table to this file, too, in LaTeX (booktabs).", type=forms.OUTPUT),
)


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with atomic_file(path) as part:
        disk.write_file(part, text.encode("utf-8", "backslashreplace"))


def was_typed(name: str) -> bool:
    """True if a parameter of the running command stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def is_default(name: str) -> bool:
    """True if nothing was said of a parameter: no line, no variable, no file."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.DEFAULT


def make_retrievals(choices: Iterable[str], with_probabilities: bool = False) -> list[Retrieval]:
    """Make the retrievals of --retrieval, each once.

    Parameters
    ----------
    with_probabilities
        Whether the default is the retrieval that has them.
    """
    return as_retrievals("reranked" if with_probabilities and is_default("retrieval") else choices)


def read_pairs(specs: Iterable[str], languages: Iterable[str]) -> dict[tuple[str, str], Dictionary]:
    """Read LANG-LANG=FILE options; of a pair that comes more than once, all files together."""
    dictionaries: dict[tuple[str, str], Dictionary] = {}
    for pair, dictionary in read_each(specs, languages):
        dictionaries[pair] = dictionaries.get(pair, Dictionary()).with_pairs(dictionary)
    return dictionaries


def read_each(
    specs: Iterable[str], languages: Iterable[str]
) -> list[tuple[tuple[str, str], Dictionary]]:
    """Read LANG-LANG=FILE options one by one; a file may be a pipe, which can be read but once."""
    texts = [split_spec(spec, forms.DICTIONARIES) for spec in specs]
    encoding = click.get_current_context().params.get("encoding")
    return [
        (language_pair(name, languages), read_dictionary(path, encoding=encoding))
        for name, path in texts
    ]

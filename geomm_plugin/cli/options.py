"""Options that mean the same in every command, and the texts they are made of.

A *group* adds several options to a command, which gets them as one object: `@fit_options("geomm")`
gives it `fit: Fit`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from geomm_plugin import progress
from geomm_plugin.alignment.inputs import with_alike_words
from geomm_plugin.alignment.space import aligned_space
from geomm_plugin.cli import forms
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, LanguagesError, ParameterError
from geomm_plugin.formats import check_exists, find_format, read_languages
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_mapper, as_retrieval
from geomm_plugin.registry.parameters import split_spec, split_specs
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

NOTHING_TO_LEARN = (
    "There is nothing to learn from. Give --dictionary LANG-LANG=FILE, or --identical LANG-LANG to "
    "take words that are spelt alike, or choose a mapper that needs no dictionary: --mapper "
    "geomm_unsup."
)
CORES = "Work on so many cores at the same time; -1 is all of them. The result is the same."
THREADS = (
    "Compare words in so many threads; -1 is one for each core. By default the threads of BLAS "
    "share the products alone. The result is the same."
)
ENCODING = "geomm_plugin.encoding"  # where the context of a command holds that of dictionaries
WRITTEN = "written"  # what --json prints is one object

tests_option = click.option(
    "--test",
    "-t",
    multiple=True,
    required=True,
    type=forms.PAIR_FILE,
    help="Test dictionary of a pair of languages, e.g. en-es=en-es.5000-6500.txt. Repeatable.",
)
retrieval_option = click.option(
    "--retrieval",
    "-r",
    default="csls",
    show_default=True,
    type=forms.RETRIEVAL,
    help="How target words are ranked, e.g. cosine or csls:k=5.",
)
retrievals_option = click.option(
    "--retrieval",
    "-r",
    multiple=True,
    default=("csls",),
    show_default=True,
    type=forms.RETRIEVAL,
    help="How target words are ranked, e.g. cosine or csls:k=5. Repeatable.",
)
metrics_option = click.option(
    "--metric",
    multiple=True,
    type=forms.METRIC,
    help="e.g. p@1; by default all. Without mrr large vocabularies take less time. Repeatable.",
)
by_option = click.option(
    "--by",
    type=click.Choice(["spelling", "frequency", "translations"]),
    help="Show P@1 of groups of words, too: of identical, cognate and different spelling; by "
    "frequency; by number of translations.",
)
oov_option = click.option(
    "--oov",
    type=click.Choice(["skip", "wrong"]),
    default="skip",
    show_default=True,
    help="Test words outside the vocabularies: leave them out, or count them as errors.",
)
precision_option = click.option(
    "--precision",
    type=click.IntRange(min=1, max=20),
    metavar="DIGITS",
    help="Digits after the decimal point in text files, e.g. 5; by default all that float32 has.",
)


encoding_option = click.option(
    "--encoding",
    metavar="NAME",
    expose_value=False,
    callback=lambda context, _, name: context.meta.__setitem__(ENCODING, name),
    help="The encoding of dictionaries that are not in UTF-8, e.g. latin-1.",
)


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
        for option in reversed(options):
            added = option(added)
        names = {parameter.name for parameter in added.__click_params__[before:]}
        return added

    return add


@dataclass(frozen=True)
class Fit:
    """What is fitted, and from which dictionaries."""

    mapper: Any  # the text that chooses one, or a tuple of them
    set: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    identical: tuple[str, ...] = ()
    cognates: tuple[str, ...] = ()

    @property
    def has_dictionaries(self) -> bool:
        """Whether there is something to learn from."""
        return bool(self.dictionary or self.identical or self.cognates)

    def make_mapper(self) -> Mapper:
        """Return the one mapper chosen."""
        return as_mapper(self.mapper, self.set)

    def read(self, embeddings: Mapping[str, Embeddings]) -> dict[tuple[str, str], Dictionary]:
        """Read the dictionaries; make those of identical words and cognates."""
        same, nearly = (
            [language_pair(name, embeddings) for name in names]
            for names in (self.identical, self.cognates)
        )
        pairs = read_pairs(self.dictionary, embeddings)
        return with_alike_words(pairs, embeddings, same, nearly)


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
    several = isinstance(default, tuple)
    usual = "A name that `geomm mappers` lists, e.g. geomm:regularization=100"
    given = [_dictionary_option, encoding_option, _identical_option, _cognates_option]
    options = [
        *(given if learns else []),
        click.option(
            "--mapper",
            "-m",
            multiple=several,
            default=default,
            show_default=True,
            type=forms.MAPPERS if several else forms.MAPPER,
            help=what or usual + (", or all. Repeatable." if several else "."),
        ),
        click.option(
            "--set",
            "-s",
            multiple=True,
            type=forms.SETTING,
            help="A parameter of the mapper, e.g. regularization=100. Repeatable.",
        ),
    ]
    return as_group("fit", Fit, *options)


_dictionary_option = click.option(
    "--dictionary",
    "-d",
    multiple=True,
    type=forms.PAIR_FILE,
    help="Training dictionary of a pair of languages, e.g. en-es=en-es.0-5000.txt. Repeatable.",
)
_identical_option = click.option(
    "--identical",
    multiple=True,
    type=forms.PAIR,
    help="Use the words that both languages spell alike as a dictionary. Repeatable.",
)
_cognates_option = click.option(
    "--cognates",
    multiple=True,
    type=forms.PAIR,
    help="Use the words that are each other's most alike in spelling as a dictionary. Repeatable.",
)
_max_words_option = click.option(
    "--max-words",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read only the first (most frequent) N words of each file.",
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

    def paths(self) -> dict[str, str]:
        """Return the path of each language; all are there, in a known format."""
        return existing_files(self.embeddings)

    def read(self) -> dict[str, Embeddings]:
        """Read all files; all paths are looked at before the first file is read."""
        return read_languages(self.paths(), max_words=self.max_words)

    def space_of(self, read: Mapping[str, Embeddings]) -> SharedSpace:
        """Return the space of what was read: mapped, or aligned already."""
        return aligned_space(read) if self.mapper is None else self.mapper.map(read)


def space_options(*, files: bool = True, model: str = "") -> Decorator:
    """Add what is read; the command gets it as `files`.

    Parameters
    ----------
    files
        Whether the arguments are LANG=FILE...; else the command finds them among its own.
    model
        The help of --model, if there is one.
    """
    options: list[Decorator] = []
    if files:
        argument = click.argument(
            "embeddings", nargs=-1, required=True, type=forms.LANG_FILE, metavar="LANG=FILE..."
        )
        options.append(argument)
    options.append(_max_words_option)
    if model:
        options.append(click.option("--model", type=click.Path(path_type=Path), help=model))
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

    def report(self, content: Any, text: str = "") -> None:
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
    options: list[Decorator] = [
        click.option("--quiet", "-q", is_flag=True, help="No progress and no summary."),
        click.option(
            "--verbose",
            "-v",
            is_flag=True,
            expose_value=False,
            callback=_be_verbose,
            help="A line for each stage on standard error: what, how much, how long.",
        ),
    ]
    if jobs:
        several = {"type": int, "default": default, "show_default": True, "metavar": "N"}
        options.append(click.option("--jobs", "-j", help=jobs, **several))  # type: ignore[arg-type]
    if cluster:
        text = "Work on a Dask cluster, e.g. tcp://scheduler:8786, which must see the same files."
        options.append(click.option("--cluster", metavar="ADDRESS", help=text))
    if as_json:
        options.append(json_option(as_json))
    return as_group("run", Run, *options)


def json_option(each: str) -> Decorator:
    """Return the option --json, which prints an object for each of something."""
    text = f"Print a JSON list, one object {each}."
    text = "Print what was written as one JSON object." if each == WRITTEN else text
    return click.option("--json", is_flag=True, help=text)


def _be_verbose(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.with_resource(progress.verbose())


def make_retrieval(choice: str, with_probabilities: bool) -> Retrieval:
    """Return the retrieval of --retrieval; by default one with probabilities, if they are asked."""
    source = click.get_current_context().get_parameter_source("retrieval")
    if with_probabilities and source is ParameterSource.DEFAULT:
        choice = "reranked"
    return as_retrieval(choice)


def make_retrievals(choices: Iterable[str]) -> list[Retrieval]:
    """Make the retrievals chosen, each once."""
    made = map(as_retrieval, choices)
    return list({retrieval.label: retrieval for retrieval in made}.values())


def existing_files(specs: Iterable[str]) -> dict[str, str]:
    """Return the paths of LANG=FILE arguments by language; each is there, in a known format."""
    specs = list(specs)
    for spec in specs:
        refuse_no_files(spec)
    paths = split_specs(with_space(specs), "LANG=FILE, e.g. en=wiki.en.vec")
    for path in paths.values():
        check_exists(Path(path))
        find_format(Path(path))
    return paths


def with_space(specs: Sequence[str]) -> Sequence[str]:
    """Return LANG=FILE for each language, also where one path stands for all of them."""
    if not is_space(specs):
        return specs
    from geomm_plugin.alignment.space import space_files

    return [f"{name}={path}" for name, path in space_files(Path(specs[0])).items()]


def is_space(arguments: Sequence[str]) -> bool:
    """True if one path stands for all languages: an aligned folder, a file of several."""
    from geomm_plugin.alignment.record import NAME

    if len(arguments) != 1 or "=" in arguments[0]:
        return False
    path = Path(arguments[0])
    return (path / NAME).is_file() or (path.is_file() and bool(find_format(path).languages(path)))


def refuse_no_files(argument: str) -> None:
    """Refuse a saved mapper among the files, and a folder that is not there."""
    if "=" in argument:
        return
    if (Path(argument) / "mapper.json").is_file():
        raise ParameterError(f"{argument} is a saved mapper; give it as --model {argument}.")
    if not Path(argument).exists():
        raise FileError(
            f"There is no folder {argument}. Give one that `geomm align` wrote, or each file with "
            "its language, e.g. en=wiki.en.vec."
        )


def read_pairs(specs: Iterable[str], languages: Iterable[str]) -> dict[tuple[str, str], Dictionary]:
    """Read LANG-LANG=FILE options; a file may be a pipe, which can be read but once."""
    dictionaries: dict[tuple[str, str], Dictionary] = {}
    for pair, dictionary in read_each(specs, list(languages)):
        dictionaries[pair] = dictionaries.get(pair, Dictionary()).with_pairs(dictionary)
    return dictionaries


def read_each(
    specs: Iterable[str], languages: Sequence[str]
) -> list[tuple[tuple[str, str], Dictionary]]:
    """Read LANG-LANG=FILE options one by one; a pair of languages may come more than once."""
    texts = (split_spec(spec, "LANG-LANG=FILE, e.g. en-es=en-es.0-5000.txt") for spec in specs)
    encoding = click.get_current_context().meta.get(ENCODING)
    return [
        (language_pair(name, languages), read_dictionary(path, encoding=encoding))
        for name, path in texts
    ]


def language_pair(name: str, languages: Iterable[str]) -> tuple[str, str]:
    """Read "en-es"; a language's own name may hold a hyphen."""
    languages = list(languages)
    if len(languages) < 2:
        raise LanguagesError(
            f"The pair {name!r} needs the embeddings of both languages, each as LANG=FILE; there "
            f"is only {', '.join(languages)}."
        )
    for position, character in enumerate(name):
        pair = name[:position], name[position + 1 :]
        if character == "-" and all(language in languages for language in pair):
            return pair
    raise LanguagesError(
        f"{name!r} is no pair of the languages given ({', '.join(languages)}); write e.g. "
        f"{'-'.join(languages[:2])}."
    )

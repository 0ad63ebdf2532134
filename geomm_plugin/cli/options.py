"""Options that mean the same in every command, and the texts they are made of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from geomm_plugin import progress
from geomm_plugin.alignment.record import MAPPER
from geomm_plugin.cli import forms
from geomm_plugin.dictionary import Dictionary, identical_words, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, GeommError, LanguagesError, ParameterError
from geomm_plugin.files.trust import is_trusted
from geomm_plugin.formats import check_exists, find_format, read_languages
from geomm_plugin.registry.parameters import split_spec, split_specs
from geomm_plugin.shared_space import Reranking, SharedSpace
from geomm_plugin.storage import load_reranking

NOTHING_TO_LEARN = (
    "There is nothing to learn from. Give --dictionary LANG-LANG=FILE, or --identical LANG-LANG to "
    "take words that are spelt alike, or choose a mapper that needs no dictionary: --mapper "
    "geomm_unsup."
)

embeddings_argument = click.argument(
    "embeddings", nargs=-1, required=True, type=forms.LANG_FILE, metavar="LANG=FILE..."
)
dictionary_option = click.option(
    "--dictionary",
    "-d",
    "dictionaries",
    multiple=True,
    type=forms.PAIR_FILE,
    help="Training dictionary of a pair of languages, e.g. en-es=en-es.0-5000.txt. Repeatable.",
)
identical_option = click.option(
    "--identical",
    multiple=True,
    type=forms.PAIR,
    help="Use the words that both languages spell alike as a dictionary. Repeatable.",
)
cognates_option = click.option(
    "--cognates",
    multiple=True,
    type=forms.PAIR,
    help="Use the words that are each other's most alike in spelling as a dictionary. Repeatable.",
)
tests_option = click.option(
    "--test",
    "-t",
    "tests",
    multiple=True,
    required=True,
    type=forms.PAIR_FILE,
    help="Test dictionary of a pair of languages, e.g. en-es=en-es.5000-6500.txt. Repeatable.",
)
mapper_option = click.option(
    "--mapper",
    "-m",
    default="geomm",
    show_default=True,
    type=forms.MAPPER,
    help="A name that `geomm mappers` lists, e.g. geomm:regularization=100.",
)
set_option = click.option(
    "--set",
    "-s",
    "settings",
    multiple=True,
    type=forms.SETTING,
    help="A parameter of the mapper, e.g. regularization=100. Repeatable.",
)
retrieval_option = click.option(
    "--retrieval",
    "-r",
    default="csls",
    show_default=True,
    type=forms.RETRIEVAL,
    help="How target words are ranked, e.g. cosine or csls:k=5.",
)
max_words_option = click.option(
    "--max-words",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read only the first (most frequent) N words of each file.",
)
precision_option = click.option(
    "--precision",
    type=click.IntRange(min=1, max=20),
    metavar="DIGITS",
    help="Digits after the decimal point in text files, e.g. 5; by default all that float32 has.",
)
jobs_option = click.option(
    "--jobs",
    "-j",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Work on so many cores at the same time; -1 is all of them. The result is the same.",
)
threads_option = click.option(
    "--jobs",
    "-j",
    type=int,
    metavar="N",
    help="Compare words in so many threads; -1 is one for each core. By default the threads of "
    "BLAS share the products alone. The result is the same.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Work on a Dask cluster, e.g. tcp://scheduler:8786, which must see the same files.",
)


def _be_verbose(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.with_resource(progress.verbose())


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --quiet, which the command is given, and --verbose, which it need not know of."""
    command = click.option(
        "--verbose",
        "-v",
        is_flag=True,
        expose_value=False,
        callback=_be_verbose,
        help="A line for each stage on standard error: what, how much, how long.",
    )(command)
    return click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")(command)


def read_all(specs: Iterable[str], max_words: int | None) -> dict[str, Embeddings]:
    """Read LANG=FILE arguments; all paths are looked at before the first file is read."""
    return read_languages(existing_files(specs), max_words=max_words)


def aligned_space(embeddings: Mapping[str, Embeddings]) -> SharedSpace:
    """Return the space of aligned files, with the weights that were learnt with their mapper.

    `align` writes files and mapper into one folder; files from several folders have no weights.
    """
    files = [each.file for each in embeddings.values() if each.file is not None]
    folders = {Path(file.path).resolve().parent for file in files}
    reranking: Reranking = {}
    if len(folders) == 1 and (saved := folders.pop() / MAPPER).is_dir():
        try:
            reranking = load_reranking(saved)
            if not is_trusted(saved, Path(files[0].path)):
                raise FileError(f"{saved} belongs to another user than the files beside it.")
        except GeommError as error:
            reranking = {}
            warnings.warn(f"No learnt weights are used: {error}", stacklevel=2)
        if not all(file.is_current() for file in files):
            raise FileError(
                f"The files beside {saved} were replaced while they were read. Try again."
            )
    return SharedSpace(embeddings, reranking)


def existing_files(specs: Iterable[str]) -> dict[str, str]:
    """Return the paths of LANG=FILE arguments by language; each is there, in a known format."""
    specs = list(specs)
    for spec in specs:
        refuse_mapper(spec)
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


def refuse_mapper(argument: str) -> None:
    """Say how a saved mapper is given, where it stands among the files."""
    if "=" not in argument and (Path(argument) / "mapper.json").is_file():
        raise ParameterError(f"{argument} is a saved mapper; give it as --model {argument}.")


def read_dictionaries(
    specs: Iterable[str],
    identical: Iterable[str],
    embeddings: Mapping[str, Embeddings],
    alike: Iterable[str] = (),
) -> dict[tuple[str, str], Dictionary]:
    """Read LANG-LANG=FILE options, and make the dictionaries of identical words and cognates."""
    from geomm_plugin.fitting.seeds.spelling import cognates

    dictionaries = with_identical(read_pairs(specs, embeddings), identical, embeddings)
    for name in alike:
        source, target = pair = language_pair(name, embeddings)
        words = cognates(embeddings[source], embeddings[target])
        dictionaries[pair] = dictionaries.get(pair, Dictionary()).with_pairs(words)
    return dictionaries


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
    return [(language_pair(name, languages), read_dictionary(path)) for name, path in texts]


def with_identical(
    pairs: Mapping[tuple[str, str], Dictionary],
    identical: Iterable[str],
    embeddings: Mapping[str, Embeddings],
) -> dict[tuple[str, str], Dictionary]:
    """Add words that are spelt alike to dictionaries."""
    dictionaries = dict(pairs)
    for name in identical:
        source, target = pair = language_pair(name, embeddings)
        words = identical_words(embeddings[source], embeddings[target])
        dictionaries[pair] = dictionaries.get(pair, Dictionary()).with_pairs(words)
    return dictionaries


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

"""`geomm translate`: look words up across languages."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click

from geomm_plugin import Retrieval, SharedSpace
from geomm_plugin.alignment.inputs import read_words
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.terminal import show
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.retrieval import Reranked
from geomm_plugin.text import fold, printable

Answer: TypeAlias = dict[str, Any]  # word, score and, where it is known, probability
MOST_IN_SET = 50

USAGE = "Give files, a pair of languages and words, e.g. en=en.vec es=es.vec en-es dog cat."


@options.as_command
@options.space_options(
    "LANG=FILE... LANG-LANG [WORD...]",
    model="A saved mapper; without it the files are taken as aligned already.",
)
@options.option(
    "--words",
    "Words to translate, too, one a line; - reads a pipe, as does a command without words.",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)
@options.option("-k", "Answers a word.", default=5, type=forms.COUNT)
@options.option(
    "--coverage",
    "Print sets of at most 50 answers that hold a right one for this share of words, e.g. 0.9; "
    "needs weights that `align --rerank` learnt.",
    type=forms.SHARE,
    metavar="SHARE",
)
@options.retrieval_option
@options.run_options(as_json="a word")
def command(
    files: options.SpaceFiles,
    words: Path | None,
    k: int,
    coverage: float | None,
    retrieval: str,
    run: options.Run,
) -> None:
    """Translate words between two languages.

    Words come from the command line, from a file or from standard input. A word that has no vector
    gets a row that says so; the others are answered, and the exit status is 1.

    \b
    Examples:
        geomm translate --model aligned/mapper en=wiki.en.vec es=wiki.es.vec en-es dog cat
        geomm translate en=aligned/en.vec es=aligned/es.vec es-en perro
        geomm translate en=aligned/en.vec es=aligned/es.vec en-es --json < words.txt
        geomm translate aligned/ es-en perro
    """
    specs, pair, asked = _split_arguments(files.embeddings)
    asked += _read_words(words, bool(asked))
    if not asked:
        raise ParameterError(USAGE)
    (ranked,) = options.make_retrievals([retrieval], with_probabilities=coverage is not None)
    files.mapper  # noqa: B018  # a folder that is none is refused before the files are read
    with run.shown():
        read = files.read(specs)
        source, target = forms.language_pair(pair, read)
        space = files.space_of({source: read[source], target: read[target]})
        known = [word for word in dict.fromkeys(asked) if _has_vector(space, source, word)]
        answer_of = _answers(space, known, (source, target), k, ranked, coverage) if known else {}
    if run.json:
        run.report(
            [
                {"word": w, "known": w in answer_of, "translations": answer_of.get(w, [])}
                for w in asked
            ]
        )
    else:
        width = max(len(printable(word)) for word in asked)
        like = _like(space[source].words, [word for word in asked if word not in answer_of])
        for word in asked:
            line = _line(answer_of.get(word), like.get(fold(word), ""))
            show(f"{printable(word):<{width}}  {line}")
    unknown = sum(word not in answer_of for word in asked)
    if unknown:
        show(
            f"{unknown} of {len(asked)} words are not among the {len(space[source])} words of "
            f"{source}. Check their spelling and letter case, and the order of the languages; "
            "words outside the vocabulary need embeddings with subwords (a fastText .bin).",
            err=True,
        )
        raise SystemExit(1)


def _has_vector(space: SharedSpace, language: str, word: str) -> bool:
    """True if a word is in the vocabulary, or has subwords."""
    try:
        return word in space[language] or len(space.vector(language, word)) > 0
    except UnknownNameError:
        return False


def _answers(
    space: SharedSpace,
    words: list[str],
    pair: tuple[str, str],
    k: int,
    retrieval: Retrieval,
    coverage: float | None,
) -> dict[str, list[Answer]]:
    """Return the answers to each word, with probabilities where the retrieval has them."""
    if coverage is not None or isinstance(retrieval, Reranked):
        count = k if coverage is None else MOST_IN_SET
        sure = space.answers(words, *pair, k=count, retrieval=retrieval, coverage=coverage)
        answers = [[answer._asdict() for answer in each] for each in sure]
    else:
        scored = space.translate(words, *pair, k=k, retrieval=retrieval)
        answers = [[{"word": word, "score": score} for word, score in each] for each in scored]
    return dict(zip(words, answers, strict=True))


def _like(vocabulary: Sequence[str], unknown: list[str]) -> dict[str, str]:
    """Return the most frequent word that differs from each unknown one in case and accents only."""
    folded = dict.fromkeys(map(fold, unknown), "")
    for word in reversed(vocabulary if folded else ()):
        if fold(word) in folded:
            folded[fold(word)] = word
    return folded


def _line(answers: list[Answer] | None, like: str) -> str:
    if answers is None:
        return f"(unknown word; did you mean {printable(like)}?)" if like else "(unknown word)"
    return "  ".join(
        f"{printable(word)} ({score:.3f}{''.join(f', {share:.0%}' for share in sure)})"
        for word, score, *sure in map(dict.values, answers)
    )


def _read_words(file: Path | None, has_words: bool) -> list[str]:
    """Read words, one a line, from a file, or from a pipe where nothing else gives words."""
    if file is None and (has_words or sys.stdin.isatty()):
        return []
    if file is not None and str(file) != "-":
        return read_words(file)
    text = sys.stdin.buffer.read().decode("utf-8-sig", "surrogateescape")
    return [word for word in map(str.strip, text.split("\n")) if word]


def _split_arguments(arguments: tuple[str, ...]) -> tuple[list[str], str, list[str]]:
    """Files come first (they hold a '='), then the pair of languages, then the words."""
    forms.refuse_no_files(arguments[0])
    count = next((i for i, text in enumerate(arguments) if "=" not in text), len(arguments))
    count = max(count, int(forms.is_space(arguments[:1])))
    files, rest = list(arguments[:count]), list(arguments[count:])
    if not files or not rest:
        raise ParameterError(USAGE)
    return files, rest[0], rest[1:]

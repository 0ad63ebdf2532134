"""`geomm plot`: pictures for papers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geomm_plugin import progress
from geomm_plugin.cli import choices, forms, options
from geomm_plugin.cli.output import check_outputs
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.dictionary import read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.evaluation.contestants import choose_mappers
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

output_option = click.option(
    "--output",
    "-o",
    required=True,
    type=forms.OUTPUT,
    help="The picture: .png, .svg or .pdf.",
)
font_option = click.option(
    "--font",
    "fonts",
    multiple=True,
    help="A font to try first, e.g. 'Noto Sans CJK JP' for Japanese words. Repeatable.",
)


@click.group()
def command() -> None:
    """Draw pictures for papers (PNG, SVG or PDF).

    They are drawn by matplotlib, the extra `plot`.

    \b
    Examples:
        geomm plot scores comparison.json --output scores.pdf
        geomm plot lambda aligned/mapper --output lambda.svg
    """


@command.command()
@click.argument(
    "arguments", nargs=-1, required=True, metavar="MODEL LANG=FILE... LANG-LANG WORD..."
)
@click.option(
    "--dictionary",
    "-d",
    type=click.Path(path_type=Path),
    help="Translations to join; by default those that the mapper finds.",
)
@output_option
@font_option
@options.max_words_option
@options.quiet_option
def space(
    arguments: tuple[str, ...],
    dictionary: Path | None,
    output: Path,
    fonts: tuple[str, ...],
    max_words: int | None,
    quiet: bool,
) -> None:
    """Draw words and their translations before and after the mapper.

    \b
    Example:
        geomm plot space aligned/mapper en=wiki.en.vec es=wiki.es.vec en-es dog cat \\
            --output space.svg
    """
    from geomm_plugin.views.plots import plot_space

    files = [text for text in arguments if "=" in text]
    others = [text for text in arguments if "=" not in text]
    if not files or len(others) < 3:
        raise ParameterError(
            "Give a saved mapper, files, a pair of languages and words, e.g. aligned/mapper "
            "en=en.vec es=es.vec en-es dog cat."
        )
    model, pair, *words = others
    _check(output, files, [Path(model)])
    mapper = load_mapper(model)
    with progress.shown(quiet):
        read: dict[str, Embeddings] = options.read_all(files, max_words)
        source, target = options.language_pair(pair, read)
        mapped = mapper.map({source: read[source], target: read[target]})
        pairs = _translations(mapped, source, target, words, dictionary)
        figure = plot_space(read, mapped, source, target, pairs, fonts=fonts)
    _save(figure, output, fonts, quiet)


@command.command()
@click.argument("comparison", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--retrieval", "-r", help="Which retrieval is drawn; by default the first.")
@output_option
@font_option
@options.quiet_option
def scores(
    comparison: Path, retrieval: str | None, output: Path, fonts: tuple[str, ...], quiet: bool
) -> None:
    """Draw P@1 as bars with intervals, from what `geomm compare --json` printed (- reads a pipe).

    \b
    Example:
        geomm plot scores comparison.json -o scores.pdf
    """
    from geomm_plugin.views.plots import plot_scores

    _check(output)
    rows = _read_rows(comparison, "p@1")
    _save(plot_scores(rows, retrieval=retrieval, fonts=fonts), output, fonts, quiet)


@command.command("lambda")
@click.argument("model", type=click.Path(path_type=Path))
@output_option
@font_option
@options.quiet_option
def regularization(model: Path, output: Path, fonts: tuple[str, ...], quiet: bool) -> None:
    """Draw the held-out P@1 of every lambda that a saved mapper tried.

    \b
    Example:
        geomm plot lambda aligned/mapper -o lambda.svg
    """
    from geomm_plugin.views.plots import plot_regularization

    _check(output)
    _save(plot_regularization(load_mapper(model).report_, fonts=fonts), output, fonts, quiet)


@command.command()
@options.embeddings_argument
@options.dictionary_option
@options.tests_option
@choices.mappers_option(("procrustes", "geomm"))
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(min=1),
    help="Source words in the training dictionary; by default 25, 50, 100, ... Repeatable.",
)
@click.option("--pair", help="Which language pair is drawn; by default the average of all.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as a JSON list, too.")
@output_option
@font_option
@options.max_words_option
@options.quiet_option
def learning(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    tests: tuple[str, ...],
    mappers: tuple[str, ...],
    sizes: tuple[int, ...],
    pair: str | None,
    as_json: bool,
    output: Path,
    fonts: tuple[str, ...],
    max_words: int | None,
    quiet: bool,
) -> None:
    """Fit mappers on ever larger parts of the dictionaries, and draw P@1 against their size.

    \b
    Example:
        geomm plot learning en=wiki.en.vec es=wiki.es.vec --dictionary en-es=train.txt \\
            --test en-es=test.txt -o learning.svg
    """
    from geomm_plugin.evaluation.learning_curve import SIZES, learning_curve
    from geomm_plugin.views.plots import plot_learning_curve

    _check(output)
    chosen = choose_mappers(mappers)
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        train = options.read_dictionaries(dictionaries, (), read)
        test = options.read_dictionaries(tests, (), read)
        rows = learning_curve(chosen, read, train, test, sizes=sizes or SIZES, jobs=1)
    if as_json:
        show_json(json.dumps(rows, ensure_ascii=False))
    _save(plot_learning_curve(rows, pair=pair, fonts=fonts), output, fonts, quiet or as_json)


def _check(output: Path, embeddings: Sequence[str] = (), others: Sequence[Path] = ()) -> None:
    """Find out before the work whether the picture can be made."""
    from geomm_plugin.views.plots.figure import check_suffix, new_figure

    check_suffix(output)
    check_outputs(embeddings, others)
    with new_figure(1, 1):
        pass


def _save(figure: Figure, output: Path, fonts: Sequence[str], quiet: bool) -> None:
    from geomm_plugin.views.plots import save_figure

    save_figure(figure, output, fonts=fonts)
    if not quiet:
        show(f"Wrote {output}")


def _translations(
    mapped: SharedSpace, source: str, target: str, words: Sequence[str], dictionary: Path | None
) -> list[tuple[str, str]]:
    if dictionary is None:
        best = mapped.translate(words, source, target, k=1)
        return [(word, answers[0][0]) for word, answers in zip(words, best, strict=True)]
    known = [pair for pair in read_dictionary(dictionary) if pair[1] in mapped[target]]
    translation_of = dict(reversed(known))
    for word in words:
        if word not in translation_of:
            raise ParameterError(
                f"{dictionary} holds no translation of {word!r} that is a word of {target}. "
                "Leave the word out, or the dictionary."
            )
    return [(word, translation_of[word]) for word in words]


_LARGEST_SCORE = 100


def _read_rows(path: Path, column: str) -> list[dict[str, Any]]:
    try:
        with click.open_file(str(path), encoding="utf-8") as stream:
            rows = parse_json(stream.read())
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    except ValueError as error:
        raise FormatError(
            f"{path}: not JSON ({error}). Make it with geomm compare --json."
        ) from error
    if not isinstance(rows, list) or not all(_is_score(row, column) for row in rows):
        raise FormatError(f"{path}: not a list of scores. Make it with geomm compare --json.")
    return rows


def _is_score(row: Any, column: str) -> bool:
    if not isinstance(row, dict) or column not in row:
        return False
    texts = [row.get(name) for name in ("mapper", "pair", "retrieval")]
    ends = [row[name] for name in (column + "_low", column + "_high") if name in row]
    numbers = [] if row[column] is None else [row[column], *ends]  # None: it was not measured
    return all(isinstance(text, str) for text in texts) and all(
        type(number) in (int, float) and abs(number) <= _LARGEST_SCORE for number in numbers
    )

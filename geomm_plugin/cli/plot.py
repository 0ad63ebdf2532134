"""`geomm plot`: pictures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.output import check_outputs
from geomm_plugin.cli.terminal import show
from geomm_plugin.dictionary import read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper

if TYPE_CHECKING:
    from geomm_plugin.views.charts import Chart


@dataclass(frozen=True)
class Picture:
    """The file of a picture, and the fonts of its words."""

    output: Path
    font: tuple[str, ...]

    def check(self, embeddings: Sequence[str] = (), others: Sequence[Path] = ()) -> None:
        """Find out before the work whether the picture can be made."""
        from geomm_plugin.views.plots import check_suffix

        check_suffix(self.output)
        check_outputs(embeddings, others)

    def save(self, chart: Chart, run: options.Run) -> None:
        """Write it."""
        from geomm_plugin.views.plots import save_figure

        save_figure(chart, self.output, fonts=self.font)
        if not (run.quiet or run.json):
            show(f"Wrote {self.output}")


picture_options = options.as_group(
    "picture",
    Picture,
    click.option(
        "--output",
        "-o",
        required=True,
        type=forms.OUTPUT,
        help="The picture: .png, .svg or .pdf.",
    ),
    click.option(
        "--font",
        multiple=True,
        help="A font to try first, e.g. 'Noto Sans CJK JP' for Japanese words. Repeatable.",
    ),
)


@click.group()
def command() -> None:
    """Draw pictures for papers (PNG, SVG or PDF).

    PNG and PDF are drawn by matplotlib, the extra `plot`; SVG needs nothing.

    \b
    Examples:
        geomm plot scores comparison.json --output scores.pdf
        geomm plot lambda aligned/mapper --output lambda.svg
    """


@command.command(cls=Command)
@click.argument(
    "arguments", nargs=-1, required=True, metavar="MODEL LANG=FILE... LANG-LANG WORD..."
)
@click.option(
    "--dictionary",
    "-d",
    type=click.Path(path_type=Path),
    help="Translations to join; by default those that the mapper finds.",
)
@picture_options
@options.space_options(files=False)
@options.run_options()
def space(
    arguments: tuple[str, ...],
    dictionary: Path | None,
    picture: Picture,
    files: options.SpaceFiles,
    run: options.Run,
) -> None:
    """Draw words and their translations before and after the mapper.

    \b
    Example:
        geomm plot space aligned/mapper en=wiki.en.vec es=wiki.es.vec en-es dog cat \\
            --output space.svg
    """
    from geomm_plugin.views.plots import plot_space

    specs = tuple(text for text in arguments if "=" in text)
    others = [text for text in arguments if "=" not in text]
    if not specs or len(others) < 3:
        raise ParameterError(
            "Give a saved mapper, files, a pair of languages and words, e.g. aligned/mapper "
            "en=en.vec es=es.vec en-es dog cat."
        )
    model, pair, *words = others
    picture.check(specs, [Path(model)])
    mapper = load_mapper(model)
    with run.shown():
        read: dict[str, Embeddings] = replace(files, embeddings=specs).read()
        source, target = options.language_pair(pair, read)
        mapped = mapper.map({source: read[source], target: read[target]})
        pairs = _translations(mapped, source, target, words, dictionary)
        chart = plot_space(read, mapped, source, target, pairs)
    picture.save(chart, run)


@command.command(cls=Command)
@click.argument("comparison", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--retrieval", "-r", help="Which retrieval is drawn; by default the first.")
@picture_options
@options.run_options()
def scores(comparison: Path, retrieval: str | None, picture: Picture, run: options.Run) -> None:
    """Draw P@1 with its intervals, from what `geomm compare --json` printed (- reads a pipe).

    \b
    Example:
        geomm plot scores comparison.json -o scores.pdf
    """
    from geomm_plugin.views.plots import plot_scores

    picture.check()
    rows = _read_rows(comparison, "p@1")
    picture.save(plot_scores(rows, retrieval=retrieval), run)


@command.command("lambda", cls=Command)
@click.argument("model", type=click.Path(path_type=Path))
@picture_options
@options.run_options()
def regularization(model: Path, picture: Picture, run: options.Run) -> None:
    """Draw the held-out P@1 of every lambda that a saved mapper tried.

    \b
    Example:
        geomm plot lambda aligned/mapper -o lambda.svg
    """
    from geomm_plugin.views.plots import plot_regularization

    picture.check()
    picture.save(plot_regularization(load_mapper(model).report_), run)


@command.command(cls=Command)
@options.space_options()
@options.fit_options(("procrustes", "geomm"))
@options.tests_option
@click.option(
    "--size",
    multiple=True,
    type=click.IntRange(min=1),
    help="Source words in the training dictionary; by default 25, 50, 100, ... Repeatable.",
)
@click.option("--pair", help="Which language pair is drawn; by default the average of all.")
@picture_options
@options.run_options(as_json="a size, too")
def learning(
    files: options.SpaceFiles,
    fit: options.Fit,
    test: tuple[str, ...],
    size: tuple[int, ...],
    pair: str | None,
    picture: Picture,
    run: options.Run,
) -> None:
    """Fit mappers on ever larger parts of the dictionaries, and draw P@1 against their size.

    \b
    Example:
        geomm plot learning en=wiki.en.vec es=wiki.es.vec --dictionary en-es=train.txt \\
            --test en-es=test.txt -o learning.svg
    """
    from geomm_plugin.evaluation.comparison import SIZES, learning_curve
    from geomm_plugin.views.plots import plot_learning_curve

    picture.check()
    chosen = choose_mappers(fit.mapper, fit.set)
    with run.shown():
        read = files.read()
        train = fit.read(read)
        tests = options.read_pairs(test, read)
        rows = learning_curve(chosen, read, train, tests, sizes=size or SIZES, jobs=1)
    if run.json:
        run.report(rows)
    picture.save(plot_learning_curve(rows, pair=pair), run)


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

"""`geomm plot`: pictures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from geomm_plugin import SharedSpace, load_mapper, read_dictionary
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.terminal import show
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.evaluation.comparison import SIZES, learning_curve
from geomm_plugin.files.trust import parse_json
from geomm_plugin.views import plots
from geomm_plugin.views.charts import Chart


@dataclass(frozen=True)
class Picture:
    """The file of a picture, and the fonts of its words."""

    output: Path
    font: tuple[str, ...]

    def __post_init__(self) -> None:
        plots.check_suffix(self.output)

    def save(self, chart: Chart, run: options.Run) -> None:
        """Write it."""
        plots.save_figure(chart, self.output, fonts=self.font)
        if not (run.quiet or run.json):
            show(f"Wrote {self.output}")


picture_options = options.as_group(
    "picture",
    Picture,
    options.option(
        "--output -o", "The picture: .png, .svg or .pdf.", required=True, type=forms.OUTPUT
    ),
    options.several("--font", "A font to try first, e.g. 'Noto Sans CJK JP' for Japanese words."),
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
@options.space_options("MODEL LANG=FILE... LANG-LANG WORD...")
@options.option(
    "--dictionary -d",
    "Translations to join; by default those that the mapper finds.",
    type=forms.PATH,
)
@picture_options
@options.run_options()
def space(
    files: options.SpaceFiles, dictionary: Path | None, picture: Picture, run: options.Run
) -> None:
    """Draw words and their translations before and after the mapper.

    \b
    Example:
        geomm plot space aligned/mapper en=wiki.en.vec es=wiki.es.vec en-es dog cat \\
            --output space.svg
    """
    specs = [text for text in files.embeddings if "=" in text]
    others = [text for text in files.embeddings if "=" not in text]
    if not specs or len(others) < 3:
        raise ParameterError(
            "Give a saved mapper, files, a pair of languages and words, e.g. aligned/mapper "
            "en=en.vec es=es.vec en-es dog cat."
        )
    model, pair, *words = others
    mapper = load_mapper(model)
    with run.shown():
        read = files.read(specs)
        source, target = forms.language_pair(pair, read)
        mapped = mapper.map({source: read[source], target: read[target]})
        pairs = _translations(mapped, source, target, words, dictionary)
        chart = plots.plot_space(read, mapped, source, target, pairs)
    picture.save(chart, run)


@command.command(cls=Command)
@click.argument("comparison", type=click.Path(path_type=Path, allow_dash=True))
@options.option("--retrieval -r", "Which retrieval is drawn; by default the first.")
@picture_options
@options.run_options()
def scores(comparison: Path, retrieval: str | None, picture: Picture, run: options.Run) -> None:
    """Draw P@1 with its intervals, from what `geomm compare --json` printed (- reads a pipe).

    \b
    Example:
        geomm plot scores comparison.json -o scores.pdf
    """
    rows = _read_rows(comparison)
    picture.save(plots.plot_scores(rows, retrieval=retrieval), run)


@command.command("lambda", cls=Command)
@click.argument("model", type=forms.PATH)
@picture_options
@options.run_options()
def regularization(model: Path, picture: Picture, run: options.Run) -> None:
    """Draw the held-out P@1 of every lambda that a saved mapper tried.

    \b
    Example:
        geomm plot lambda aligned/mapper -o lambda.svg
    """
    picture.save(plots.plot_regularization(load_mapper(model).report_), run)


@command.command(cls=Command)
@options.space_options()
@options.fit_options(("procrustes", "geomm"))
@options.tests_option
@options.several(
    "--size",
    "Source words in the training dictionary; by default 25, 50, 100, ...",
    type=forms.COUNT,
)
@options.option("--pair", "Which language pair is drawn; by default the average of all.")
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
    mappers = fit.make_mappers()
    with run.shown():
        read = files.read()
        tests = options.read_pairs(test, read)
        rows = learning_curve(mappers, read, fit.read(read), tests, sizes=size or SIZES, jobs=1)
    if run.json:
        run.report(rows)
    picture.save(plots.plot_learning_curve(rows, pair=pair), run)


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


def _read_rows(path: Path) -> list[dict[str, Any]]:
    try:
        with click.open_file(str(path), encoding="utf-8") as stream:
            rows = parse_json(stream.read())
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    except ValueError as error:
        raise FormatError(
            f"{path}: not JSON ({error}). Make it with geomm compare --json."
        ) from error
    if not isinstance(rows, list) or not all(map(_is_score, rows)):
        raise FormatError(f"{path}: not a list of scores. Make it with geomm compare --json.")
    return rows


def _is_score(row: Any) -> bool:
    if not isinstance(row, dict) or "p@1" not in row:
        return isinstance(row, dict) and isinstance(row.get("task"), str)  # of a task without P@1
    texts = [row.get(name) for name in ("mapper", "pair", "retrieval")]
    numbers = [row[name] for name in ("p@1", "p@1_low", "p@1_high") if name in row]
    return all(isinstance(text, str) for text in texts) and (
        row["p@1"] is None  # it was not measured
        or all(type(number) in (int, float) and abs(number) <= 100 for number in numbers)
    )

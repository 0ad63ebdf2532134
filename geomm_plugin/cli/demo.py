"""`geomm demo`: the whole pipeline on the embedded data."""

from __future__ import annotations

import click

from geomm_plugin import progress, registry
from geomm_plugin.cli import options
from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.evaluation import evaluate
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import get_mapper

WORDS = ("freedom", "fisheries", "monday", "billion")
NEXT = """
Next, with files of your own:

    geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt --output aligned/
    geomm translate en=aligned/en.vec es=aligned/es.vec en-es dog cat
    geomm mappers
"""


@click.command()
@options.quiet_option
def command(quiet: bool) -> None:
    """Align three languages of the embedded data, translate words, and compare the mappers.

    \b
    Example:
        geomm demo
    """
    demo = load_demo()
    sizes = ", ".join(f"{name} {len(value)}" for name, value in demo.embeddings.items())
    pairs = ", ".join(f"{s}-{t} {len(found)}" for (s, t), found in demo.train.items())
    click.echo(f"Words: {sizes}. Training pairs: {pairs}. es-it has none: it goes through en.\n")
    with progress.shown(quiet):
        _translate(demo)
        _compare(demo)
    click.echo(NEXT)


def _translate(demo: Demo) -> None:
    space = get_mapper("geomm").fit(demo.embeddings, demo.train).map(demo.embeddings)
    for source, target in demo.test:
        words = [found[0][0] for found in space.translate(WORDS, "en", source, k=1)]
        for word, answers in zip(words, space.translate(words, source, target, k=3), strict=True):
            shown = "  ".join(f"{answer} ({score:.2f})" for answer, score in answers)
            click.echo(f"{source}-{target}  {word:<12} {shown}")
    click.echo()


def _compare(demo: Demo) -> None:
    names = [f"{source}-{target}" for source, target in demo.test]
    click.echo(f"{'P@1 (CSLS)':<16}" + "".join(f"{name:>8}" for name in names))
    for name in registry.mappers:
        mapper: Mapper = get_mapper(name)
        with progress.task(f"Fitting {name}"):
            space = mapper.fit(demo.embeddings, demo.train).map(demo.embeddings)
        scores = [
            evaluate(space, source, target, dictionary).scores["p@1"]
            for (source, target), dictionary in demo.test.items()
        ]
        click.echo(f"{name:<16}" + "".join(f"{score:>8.3f}" for score in scores))

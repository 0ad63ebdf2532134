"""`geomm demo`: the whole pipeline on the embedded data."""

from __future__ import annotations

import click

from geomm_plugin import progress, registry
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.evaluation.translation import evaluate
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import get_mapper
from geomm_plugin.shared_space import SharedSpace

WORDS = ("freedom", "fisheries", "monday", "billion")
QUICK = (  # mappers that fit in a few seconds, so that the demo ends before anybody goes away
    "procrustes",
    "geomm",
    "geomm_multi",
    "msf",
    "gpa",
    "cca",
    "unconstrained",
    "regression",
    "metric_only",
    "rotation_only",
)
NEXT = """
Next, with files of your own:

    geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt --output aligned/
    geomm translate en=aligned/en.vec es=aligned/es.vec en-es dog cat
    geomm compare en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
        --test en-es=en-es.5000-6500.txt --mapper procrustes --mapper geomm
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
    known = ", ".join(f"{s}-{t} {len(pairs)}" for (s, t), pairs in demo.train.items())
    show(f"Words: {sizes}. Training pairs: {known}. es-it has none: it goes through en.\n")
    with progress.shown(quiet):
        mapper = get_mapper("geomm").fit(demo.embeddings, demo.train)
        _translate(mapper.map(demo.embeddings), demo)
        _compare(demo, fitted=mapper)
    show(NEXT)


def _translate(space: SharedSpace, demo: Demo) -> None:
    for source, target in demo.test:
        words = [best[0][0] for best in space.translate(WORDS, "en", source, k=1)]
        for word, answers in zip(words, space.translate(words, source, target, k=3), strict=True):
            shown = "  ".join(f"{answer} ({score:.2f})" for answer, score in answers)
            show(f"{source}-{target}  {word:<12} {shown}")
    show()


def _compare(demo: Demo, fitted: Mapper) -> None:
    names = [f"{source}-{target}" for source, target in demo.test]
    show(f"{'P@1 (CSLS)':<16}" + "".join(f"{name:>8}" for name in names))
    for name in QUICK:
        mapper = fitted
        if name != fitted.name:
            with progress.task(f"Fitting {name}"):
                mapper = get_mapper(name).fit(demo.embeddings, demo.train)
        space = mapper.map(demo.embeddings)
        scores = [
            evaluate(space, source, target, dictionary, metrics=["p@1"]).scores["p@1"]
            for (source, target), dictionary in demo.test.items()
        ]
        show(f"{name:<16}" + "".join(f"{score:>8.3f}" for score in scores))
    others = [name for name in registry.mappers if name not in QUICK]
    if others:
        show(f"\nAlso here, some of them slower: {', '.join(others)}.")

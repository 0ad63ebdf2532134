"""`geomm demo`: the whole pipeline on the embedded data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.arrays import Vector
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.evaluation.significance import SIGNIFICANT, holm, paired_p_value
from geomm_plugin.evaluation.texts import Classify, Sentences
from geomm_plugin.evaluation.translation import Translation
from geomm_plugin.registry import as_mapper
from geomm_plugin.shared_space import SharedSpace

WORDS = ("freedom", "fisheries", "monday", "billion")
BASELINE = "procrustes"
QUICK = {  # mappers that fit in about a second
    BASELINE: BASELINE,
    "geomm": "geomm",
    "geomm_plus": "geomm_plus:max_rounds=0",  # without self-learning
    "msf": "msf",
    "cca": "cca",
    "unconstrained": "unconstrained",
    "regression": "regression",
}
BEST = "geomm_plus"  # shown in every task
EASY = """
P@1 is the share of test words whose first translation is right. This set is easy: the same kind of
text in all languages, so that a plain rotation finds {share:.0%}. With {words} words a pair, a
point or two is within chance; paired tests say where a difference is not. On harder data mappers
differ more, and in another order: try your own. `reranked` also reads letters, which helps where
many words are names and cognates. geomm_plus is shown without its self-learning, which takes
longer.
"""
NEXT = """
Next, with files of your own:

    geomm align en=wiki.en.vec es=wiki.es.vec -d en-es=en-es.0-5000.txt -m geomm_plus -o aligned
    geomm translate aligned en-es dog cat --retrieval reranked
    geomm compare en=wiki.en.vec es=wiki.es.vec -d en-es=train.txt -t en-es=test.txt -m all
    geomm mappers
    geomm paper --demo
"""


@options.as_command
@options.run_options()
def command(run: options.Run) -> None:
    """Align three languages of the embedded data, translate words, and compare the mappers.

    \b
    Example:
        geomm demo
    """
    with run.shown():
        for line in _story(load_demo()):
            if not run.quiet:
                show(line)


def _story(demo: Demo) -> Iterator[str]:
    """Yield the lines to show, each as soon as it is known."""
    sizes = ", ".join(f"{name} {len(value)}" for name, value in demo.embeddings.items())
    known = ", ".join(f"{s}-{t} {len(pairs)}" for (s, t), pairs in demo.train.items())
    yield f"Words: {sizes}. Training pairs: {known}; none for es-it, which goes through en.\n"
    fitted = {}
    for name, choice in QUICK.items():
        with progress.task(f"Fitting {name}"):
            fitted[name] = as_mapper(choice).fit(demo.embeddings, demo.train).map(demo.embeddings)
        if len(fitted) == 1:
            yield from _translations(fitted[BASELINE], demo)
    yield from _comparison(fitted, demo)
    yield from _tasks(fitted, demo)
    others = set(registry.mappers) - set(QUICK)
    yield f"\n{len(others)} more mappers, some of them slower: `geomm mappers` lists them."
    yield NEXT


def _translations(space: SharedSpace, demo: Demo) -> Iterator[str]:
    for source, target in demo.test:
        words = [best[0][0] for best in space.translate(WORDS, "en", source, k=1)]
        for word, answers in zip(words, space.translate(words, source, target, k=3), strict=True):
            shown = "  ".join(f"{answer} ({score:.2f})" for answer, score in answers)
            yield f"{source}-{target}  {word:<12} {shown}"
    yield ""


def _comparison(spaces: Mapping[str, SharedSpace], demo: Demo) -> Iterator[str]:
    """Yield P@1 by pair, and whether the mean differs from the baseline's by more than chance."""
    ways = [(name, "csls") for name in spaces] + [(BEST, "reranked")]
    before, *others = samples = [_hits(spaces[name], demo, how) for name, how in ways]
    adjusted = holm([paired_p_value(ours, before) for ours in others])
    names = "".join(f"{source + '-' + target:>8}" for source, target in demo.test)
    yield f"{'P@1':<24}{names}    against {BASELINE}"
    for (name, how), ours, p_value in zip(ways, samples, [None, *adjusted], strict=True):
        scores = "".join(f"{hits.mean():>8.3f}" for hits in ours)
        yield f"{name}, {how}".ljust(24) + scores + _verdict(ours, before, p_value)
    share = np.mean([hits.mean() for hits in before])
    yield EASY.format(share=share, words=len(before[0]))


def _hits(space: SharedSpace, demo: Demo, retrieval: str) -> list[Vector]:
    scores = Translation(demo.test, [retrieval], ["p@1"]).score(space)
    return [hits for score in scores for hits in score.samples]


def _verdict(ours: list[Vector], theirs: list[Vector], p_value: float | None) -> str:
    if p_value is None:
        return ""
    if p_value >= SIGNIFICANT:
        return "    within chance"
    is_better = sum(hits.mean() for hits in ours) > sum(hits.mean() for hits in theirs)
    return f"    {'better' if is_better else 'worse'} (p = {p_value:.2g})"


def _tasks(spaces: Mapping[str, SharedSpace], demo: Demo) -> Iterator[str]:
    """Yield a line for each task, en-es, with two mappers and without alignment."""
    two = {name: demo.sentences[name] for name in ("en", "es")}
    tasks = {
        "Sentences, en to es (P@1 of 1,000)": Sentences(two, ["csls"]),
        "Topics learnt in en, tested on es (accuracy)": Classify(
            {"en": demo.topics["en"]}, {"es": demo.topics["es"]}
        ),
    }
    shown = {"not aligned": SharedSpace(demo.embeddings)}
    shown |= {name: spaces[name] for name in (BASELINE, BEST)}
    for title, task in tasks.items():
        scores = ((name, task.score(space)[0]) for name, space in shown.items())
        yield f"{title}: " + ", ".join(f"{n} {s.scores[s.main]:.2f}" for n, s in scores)

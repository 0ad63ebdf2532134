"""`geomm demo`: the whole pipeline on the embedded data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from geomm_plugin import progress, registry
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.evaluation import Comparison
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.table import text_of_cells
from geomm_plugin.evaluation.texts import Classify, Sentences
from geomm_plugin.evaluation.translation import Translation
from geomm_plugin.registry import as_mapper
from geomm_plugin.shared_space import SharedSpace

WORDS = ("freedom", "fisheries", "monday", "billion")
BASELINE = "procrustes"
QUICK = (  # mappers that fit in about a second; geomm_plus without self-learning
    *(BASELINE, "geomm", "geomm_plus:max_rounds=0", "msf", "cca", "unconstrained", "regression"),
)
BEST = "geomm_plus"  # shown in every task
EASY = """
In percent: the share of test words whose first translation is right (P@1). This set is easy: the
same kind of text in all languages, so that a plain rotation finds {share:.0%}. With {words} words a
pair, a point or two is within chance. On harder data mappers differ more, and in another order: try
your own. `reranked` also reads letters, which helps where many words are names and cognates.
geomm_plus is shown without its self-learning, which takes longer.
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
    for choice in QUICK:
        name = choice.partition(":")[0]
        with progress.task(f"Fitting {name}"):
            fitted[name] = as_mapper(choice).fit(demo.embeddings, demo.train).map(demo.embeddings)
        if len(fitted) == 1:
            yield from _translations(fitted[BASELINE], demo)
    yield from _comparison(fitted, demo)
    yield from _tasks(fitted, demo)
    others = set(registry.mappers) - set(fitted)
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
    """Yield P@1 by pair; a star marks what differs from the baseline by more than chance."""
    runs = []
    for name, how in [*((name, "csls") for name in spaces), (BEST, "reranked")]:
        scores = [
            replace(score, about={"pair": score.about["pair"]})
            for score in Translation(demo.test, how, "p@1").score(spaces[name])
        ]
        runs.append(Run(f"{name}, {how}", {}, None, None, None, tuple(scores)))
    found = Comparison(tuple(runs), runs[0].label)
    yield from map(text_of_cells, found.paper_tables())
    yield from found.notes()
    before = runs[0].evaluations
    share = sum(score.scores["p@1"] for score in before) / len(before)
    yield EASY.format(share=share, words=before[0].n_words)


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

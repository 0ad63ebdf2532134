"""Words that moved on purpose: how many `drift` finds, and how many others, at q < 0.1.

    python benchmarks/drift.py                              # noisy copies of the embedded vectors
    python benchmarks/drift.py --vectors wiki.en.vec
    python benchmarks/drift.py --text en.txt --text more.txt    # needs gensim

Copies: a word's noise grows with its rank and differs from word to word; 40 words move half-way to
another of them. Texts, a document a line: their documents are divided by chance, vectors are
trained on each half, and in the second half 20 words stand in each other's place. The null is made
in the same way, with nothing moved. A run of each seed is tested with the null of every other.

Intervals are made of a third of the words, and should hold the distances after a fit on all.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, permutations
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from geomm_plugin import Embeddings, drift, read_embeddings
from geomm_plugin.demo import load_demo
from geomm_plugin.normalize import unit

LEAST_RANK = 60  # of words that move: none of the few that make up the grammar
COPIED, SWAPPED = 40, 20  # words that move
SMALL = 0.1  # q
RESAMPLES = 100


class Case(NamedTuple):
    """Two corpora between which nothing changed, a third in which some words moved, and these."""

    old: Embeddings
    same: Embeddings
    new: Embeddings
    moved: set[str]


def copies(now: Embeddings, seed: int) -> Case:
    """Return noisy copies of vectors."""
    random = np.random.default_rng(seed)
    vectors, (count, dimension) = unit(now.vectors), now.vectors.shape
    rows = LEAST_RANK + random.choice(count * 2 // 3 - LEAST_RANK, COPIED, replace=False)
    moved = vectors.copy()
    moved[rows] = unit(vectors[rows] + vectors[np.roll(rows, 1)])

    def noisy(given: Any) -> Embeddings:
        size = np.linspace(0.3, 1.2, count) * np.exp(0.1 * random.normal(size=count))
        noise = unit(random.normal(size=given.shape)) * size[:, None]
        turn, _ = np.linalg.qr(random.normal(size=(dimension, dimension)))
        return Embeddings(now.words, ((given + noise) @ turn).astype(np.float32))

    return Case(noisy(vectors), noisy(vectors), noisy(moved), {now.words[row] for row in rows})


def halves(documents: list[list[str]], seed: int) -> Case:
    """Return vectors of halves of a text."""
    from gensim.models import Word2Vec

    def trained(texts: list[list[str]], seed: int) -> Embeddings:
        settings: dict[str, Any] = {"vector_size": 50, "sg": 1, "epochs": 15, "workers": 1}
        vectors = Word2Vec(texts, seed=seed, **settings).wv
        return Embeddings(vectors.index_to_key, vectors.vectors)

    random = np.random.default_rng(seed)
    order = random.permutation(len(documents))
    first, second = (
        [documents[at] for at in part]
        for part in (order[: len(order) // 2], order[len(order) // 2 :])
    )
    words = [word for word, _ in Counter(chain.from_iterable(documents)).most_common(1200)]
    starts = random.choice(np.arange(LEAST_RANK, len(words) - 20, 20), SWAPPED // 2, replace=False)
    pairs = [(words[at], words[at + 7]) for at in starts]  # of similar frequency
    other = dict(pairs) | {there: here for here, there in pairs}
    swapped = [[other.get(word, word) for word in text] for text in second]
    old, same, new = trained(first, seed), trained(second, seed + 100), trained(swapped, seed + 100)
    return Case(old, same, new, {word for word in other if word in old and word in new})


def counted(case: Case, null: Case) -> list[float]:
    """Return what is found: true ones, false ones, of those moved if asked, where none moved."""

    def found(new: Embeddings, **asked: Any) -> set[str]:
        given = {"null": {"a": null.old, "b": null.same}, "neighbors": 0, "top": 200} | asked
        return {each.word for each in drift(case.old, new, **given).words if each.q < SMALL}

    some = found(case.new)
    asked = found(case.new, words=sorted(case.moved))
    return [len(some & case.moved), len(some - case.moved), len(asked), len(found(case.same))]


def held(case: Case) -> list[bool]:
    """Return whether the intervals of words hold their distances after a fit on more words."""
    random = np.random.default_rng(0)
    common = sorted(word for word in case.old.words if word in case.new)
    some = sorted({*random.choice(common, len(common) // 3, replace=False).tolist(), *case.moved})
    corpora = {"old": case.old, "new": case.new}
    few = {name: chosen(each, set(some)) for name, each in corpora.items()}
    settings: dict[str, Any] = {"words": [*some[::10], *case.moved], "neighbors": 0}
    every = {each.word: each.distance for each in drift(corpora, **settings).words}
    found = drift(few, resamples=RESAMPLES, **settings).words
    return [each.distance_low <= every[each.word] <= each.distance_high for each in found]


def chosen(embeddings: Embeddings, words: set[str]) -> Embeddings:
    """Return some of the words, in their order."""
    rows = [row for row, word in enumerate(embeddings.words) if word in words]
    return Embeddings([embeddings.words[row] for row in rows], embeddings.vectors[rows])


@click.command()
@click.option("--vectors", type=click.Path(path_type=Path), help="Copy these instead.")
@click.option("--text", "texts", multiple=True, type=click.Path(path_type=Path), help="Train on.")
@click.option("--seeds", default=4, type=click.IntRange(min=2), help="How many cases.")
def main(vectors: Path | None, texts: tuple[Path, ...], seeds: int) -> None:
    """Print the mean counts over all pairs of a case and a null."""
    if texts:
        lines = chain.from_iterable(path.read_text("utf-8").splitlines() for path in texts)
        documents = [re.findall(r"\w+", line.lower()) for line in lines]
        cases = [halves(documents, seed) for seed in range(seeds)]
    else:
        now = load_demo().embeddings["en"] if vectors is None else read_embeddings(vectors)
        cases = [copies(now, seed) for seed in range(seeds)]
    counts = np.array([counted(case, null) for case, null in permutations(cases, 2)])
    true, false, asked, unchanged = counts.mean(axis=0)
    moved = np.mean([len(case.moved) for case in cases])
    shares = counts[:, 1] / np.maximum(counts[:, 0] + counts[:, 1], 1)
    click.echo(f"{len(counts)} runs, {len(cases[0].old)} words, {moved:.1f} of them moved")
    click.echo(f"among all words   {true:.1f} of them have q < {SMALL}, and {false:.1f} others")
    click.echo(f"                  mean share of others {shares.mean():.3f}")
    click.echo(f"asked about them  {asked:.1f} have q < {SMALL}")
    runs = np.count_nonzero(counts[:, 3])
    share = np.mean([each for case in cases for each in held(case)])
    click.echo(f"intervals         {share:.3f} hold the distance after a fit on all words")
    click.echo(f"none moved        {unchanged:.2f} words, in {runs} of {len(counts)} runs")


if __name__ == "__main__":
    main()

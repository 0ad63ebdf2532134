"""Re-ranking: what fixed and learnt weights bring, from how many pairs, and what they cost.

    python benchmarks/reranking.py rows.jsonl en=en.vec es=es.vec -d train.txt -t test.txt \\
        -m procrustes -m geomm_plus --lines 100 --lines 1000 --precision 0.9
    python benchmarks/reranking.py rows.jsonl en=en.vec es=es.vec -d train.txt -t test.txt \\
        --other dice.txt
    python benchmarks/reranking.py --cost en-es/         # a folder of `geomm align --rerank`

Appends a row for each mapper and number of lines to a file: P@1 by CSLS, with fixed and with learnt
weights, 95 % intervals, p-values of paired tests (fixed against CSLS, learnt against fixed), CPU
seconds of the fit and of learning, MB that learning adds to the peak. `--lines 0` is no dictionary.
`--other` learns the weights from another dictionary than the map's, without the test words: what is
lost is a dictionary's habit. `--precision` induces pairs of all words that should be right to this
share, and looks at those of test words. `--cost` asks for ten answers to 1,500 words, twice, in a
process of its own for each retrieval: CPU seconds of the first search and of the second.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import numpy as np
from threadpoolctl import threadpool_limits

from geomm_plugin import SharedSpace, evaluate, read_dictionary, read_space
from geomm_plugin.evaluation.significance import bootstrap_interval, paired_p_value
from geomm_plugin.fitting import learn_reranking
from geomm_plugin.formats import read_languages
from geomm_plugin.registry import as_mapper
from geomm_plugin.registry.parameters import split_spec

RETRIEVALS = {"csls": "csls", "fixed": "reranked:weights=fixed", "learnt": "reranked"}
WORDS, AMONG, ANSWERS = 1500, 20_000, 10
Pairs = list[tuple[str, str]]


def measure(
    embeddings: dict[str, str],
    name: str,
    train: Pairs,
    other: Pairs,
    test: Pairs,
    precisions: Sequence[float],
) -> dict[str, Any]:
    """Fit a mapper, learn to re-rank, and compare three retrievals on the test words."""
    languages = read_languages(embeddings)
    source, target = languages
    mapper = as_mapper(name)
    row: dict[str, Any] = {"mapper": name, "pair": f"{source}-{target}", "pairs": len(train)}
    with threadpool_limits(1):
        start = time.process_time()
        mapper.fit(languages, {(source, target): train} if mapper.needs_dictionary else {})
        fitted, peak = time.process_time(), _peak()
        learn_reranking(mapper, languages, {(source, target): other})
        row |= {"fit": fitted - start, "learn": time.process_time() - fitted}
        row |= {"more_mb": _peak() - peak}
        space = mapper.map(languages)
        hits = [_hits(space, retrieval, test) for retrieval in RETRIEVALS.values()]
        for label, own in zip(RETRIEVALS, hits, strict=True):
            ends = bootstrap_interval([own])
            row[label] = [float(own.mean()), ends.low, ends.high]
        row["p fixed"] = paired_p_value([hits[1]], [hits[0]])
        row["p learnt"] = paired_p_value([hits[2]], [hits[1]])
        for precision in precisions:
            row[f"at {precision:g}"] = _reached(space, test, precision)
    return row


def _hits(space: SharedSpace, retrieval: str, test: Pairs) -> np.ndarray:
    ranks = evaluate(space, *space, test, retrieval, metrics=["p@1"]).ranks
    return (ranks == 1).astype(float)


def _reached(space: SharedSpace, test: Pairs, precision: float) -> dict[str, Any]:
    """Return how many pairs are induced, and which share of those of test words is right."""
    source, target = space
    found = space.dictionary(source, target, retrieval="reranked", at_precision=precision)
    gold: dict[str, set[str]] = {}
    for word, other in test:
        if word in space[source] and other in space[target]:
            gold.setdefault(word, set()).add(other)
    right = [pair[1] in gold[pair[0]] for pair in found if pair[0] in gold]
    return {
        "induced": len(found),
        "test words": len(gold),
        "found": len(right),
        "right": float(np.mean(right)) if right else None,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def cost(folder: Path, retrieval: str) -> tuple[float, float, float]:
    """Return CPU seconds of the first and the second search, and the peak memory in MB."""
    space = read_space(folder)
    source, target = space
    vectors = [space.unit_vectors(language) for language in space]  # mapped before
    rows = np.random.default_rng(0).choice(min(AMONG, len(vectors[0])), WORDS, replace=False)
    words = [space[source].words[row] for row in np.sort(rows).tolist()]
    times = [time.process_time()]
    with threadpool_limits(1):
        for _ in range(2):
            space.index(source, target, retrieval).search(space.queries(words, source), ANSWERS)
            times.append(time.process_time())
    return times[1] - times[0], times[2] - times[1], _peak()


@click.command()
@click.argument("rows", type=click.Path(path_type=Path))
@click.argument("embeddings", nargs=-1, metavar="[LANG=FILE LANG=FILE]")
@click.option("-d", "--dictionary", type=Path, help="To learn from.")
@click.option("-t", "--test", type=Path)
@click.option("--other", type=Path, help="A dictionary to learn weights from instead.")
@click.option("-m", "--mapper", "mappers", multiple=True, default=("geomm_plus",))
@click.option("--lines", multiple=True, type=int, help="The first lines only; 0: none.")
@click.option("--precision", "precisions", multiple=True, type=float)
@click.option("--cost", "costs", is_flag=True, help="ROWS is a folder of aligned files.")
def main(
    rows: Path,
    embeddings: tuple[str, ...],
    dictionary: Path | None,
    test: Path | None,
    other: Path | None,
    mappers: tuple[str, ...],
    lines: tuple[int, ...],
    precisions: tuple[float, ...],
    costs: bool,
) -> None:
    """Measure re-ranking."""
    if costs:
        for label, retrieval in RETRIEVALS.items():
            with get_context("spawn").Pool(1) as process:
                first, again, peak = process.apply(cost, (rows, retrieval))
            click.echo(f"{label}: first {first:.2f}, again {again:.2f} CPU s; {peak:.0f} MB")
        return
    files = dict(split_spec(spec, "LANG=FILE") for spec in embeddings)
    train, asked = (list(read_dictionary(path)) if path else [] for path in (dictionary, test))
    told = {word for word, _ in asked}
    foreign = [pair for pair in read_dictionary(other) if pair[0] not in told] if other else None
    for name in mappers:
        for count in lines or (len(train),):
            own = train[:count]
            job = files, name, own, own if foreign is None else foreign, asked, precisions
            with get_context("spawn").Pool(1) as process:
                row = process.apply(measure, job)
            row |= {"weights of": other.name} if other else {}
            with rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            click.echo(row)


if __name__ == "__main__":
    main()

"""What mappers find without a dictionary, and whether `recover` tells when they find nothing.

    python benchmarks/no_dictionary.py rows.jsonl                         # the embedded data
    python benchmarks/no_dictionary.py rows.jsonl en=wiki.en.vec es=wiki.es.vec -t en-es=test.txt
    python benchmarks/no_dictionary.py rows.jsonl ... --target gaussian --seeds 10    # must fail

Each fit is a process of its own, with one BLAS thread, and a row of the file: P@1 by CSLS and with
letters, `recover` and `witnessed` of all languages (the lowest), whether the fit would have been
refused, CPU seconds of the fit and the peak memory of the process, in
which the vectors stand, too. Rows that the file holds already are not run again. `--summary` prints
the table of the file: mean and spread over the seeds.

A target is the language itself; or `gaussian`, noise with the covariance of its vectors; or
`shuffled`, its vectors in another order than its words: there is no right translation of words in
the last two. With
`--drop 0.1` each seed leaves out another tenth of the words of both languages.
"""

from __future__ import annotations

import json
import resource
import time
import warnings
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import numpy as np
from threadpoolctl import threadpool_limits

from geomm_plugin import Embeddings, evaluate
from geomm_plugin.cli import options
from geomm_plugin.demo import load_demo
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval.rerank import Reranked

KEY = ("mapper", "data", "pair", "target", "drop", "max_words", "seed")

EMBEDDED = "embedded data"


def null(embeddings: Embeddings, target: str, random: np.random.Generator) -> Embeddings:
    """Return a language in which nothing can be found, or the language itself."""
    vectors = embeddings.vectors
    if target == "shuffled":
        vectors = vectors[random.permutation(len(vectors))]
    elif target == "gaussian":
        values, basis = np.linalg.eigh(np.cov(vectors.T.astype(np.float64)))
        noise = random.normal(size=vectors.shape) * np.sqrt(np.maximum(values, 0))
        vectors = (noise @ basis.T + vectors.mean(axis=0)).astype(np.float32)
    return Embeddings(embeddings.words, vectors)


def dropped(embeddings: Embeddings, share: float, random: np.random.Generator) -> Embeddings:
    """Return the language without a share of its words."""
    rows = np.flatnonzero(random.random(len(embeddings)) >= share)
    return Embeddings([embeddings.words[row] for row in rows], embeddings.vectors[rows])


def read(
    embeddings: tuple[str, ...], tests: tuple[str, ...], max_words: int | None
) -> tuple[dict[str, Embeddings], dict[tuple[str, str], Dictionary]]:
    """Return languages and test dictionaries: of the files, or the embedded ones."""
    if embeddings:
        languages = options.SpaceFiles(max_words, embeddings).read()
        return languages, options.read_pairs(tests, languages)
    demo = load_demo()
    return {name: value.head(max_words or len(value)) for name, value in demo.embeddings.items()}, {
        pair: demo.test[pair] for pair in demo.test
    }


def measure(
    key: dict[str, Any],
    embeddings: tuple[str, ...],
    tests: tuple[str, ...],
) -> dict[str, Any]:
    """Fit one mapper to one pair of languages; return its row."""
    languages, dictionaries = read(embeddings, tests, key["max_words"])
    pair = source, target = tuple(key["pair"].split("-"))
    random = np.random.default_rng(key["seed"])
    both = {name: dropped(languages[name], key["drop"], random) for name in pair}
    both[target] = null(both[target], key["target"], random)
    mapper = as_mapper(key["mapper"]).set_params(seed=key["seed"], on_failure="warn")
    with warnings.catch_warnings(record=True) as told, threadpool_limits(1):
        warnings.simplefilter("always")
        start = time.process_time()
        mapper.fit(both, {})
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row = {"recover": min(mapper.report_.recover.values()), "cpu": seconds, "peak": peak}
        row |= {"seeds": next(iter(mapper.report_.seeds.values()))}
        row |= {"refused": any("found no translations" in str(each.message) for each in told)}
        if mapper.report_.witnessed:
            row["witnessed"] = min(mapper.report_.witnessed.values())
        if key["target"] == "itself" and pair in dictionaries:
            space = mapper.map(both)
            for name, retrieval in (("csls", "csls"), ("reranked", Reranked(weights="fixed"))):
                scores = evaluate(space, source, target, dictionaries[pair], retrieval).scores
                row[name] = scores["p@1"]
    return key | row


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the table: mean and spread (largest less smallest) over the seeds."""
    lines = [
        "| mapper | pair | words | P@1 | with letters | recover | witnessed | refused "
        "| CPU s | peak MB |",
        "|---|---|---|---|---|---|---|---|---:|---:|",
    ]

    def case(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in KEY[:-1])

    for _, group in groupby(sorted(rows, key=case), case):
        some = list(group)
        first = some[0]
        words = [first["target"]] if first["target"] != "itself" else []
        words += [EMBEDDED] if first["data"] == EMBEDDED else []
        words += [f"{first['drop']:.0%} left out"] if first["drop"] else []
        words += [f"first {first['max_words']}"] if first["max_words"] else []
        refused = sum(row["refused"] for row in some)
        cells = [f"`{first['mapper']}`", first["pair"], ", ".join(words) or "all"]
        cells += [_spread([row[name] for row in some if name in row]) for name in SCORES]
        cells += [f"{refused} of {len(some)}", f"{np.mean([row['cpu'] for row in some]):.0f}"]
        cells += [f"{max(row['peak'] for row in some):.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


SCORES = ("csls", "reranked", "recover", "witnessed")


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    spread = max(values) - min(values)
    return f"{np.mean(values):.3f}" + (f" ± {spread / 2:.3f}" if spread > 0 else "")


@click.command()
@click.argument("rows", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("embeddings", nargs=-1, metavar="[LANG=FILE...]")
@click.option("--test", "-t", "tests", multiple=True, metavar="LANG-LANG=FILE")
@click.option("--pair", "pairs", multiple=True, help="By default all with a test dictionary.")
@click.option("--mapper", "-m", "mappers", multiple=True, default=["geomm_unsup"])
@click.option("--target", type=click.Choice(["itself", "gaussian", "shuffled"]), default="itself")
@click.option("--drop", type=click.FloatRange(0, 0.9), default=0.0)
@click.option("--seeds", type=click.IntRange(min=1), default=3)
@click.option("--max-words", type=click.IntRange(min=1))
@click.option("--summary", "only_summary", is_flag=True, help="Print the table; run nothing.")
def main(
    rows: Path,
    embeddings: tuple[str, ...],
    tests: tuple[str, ...],
    pairs: tuple[str, ...],
    mappers: tuple[str, ...],
    target: str,
    drop: float,
    seeds: int,
    max_words: int | None,
    only_summary: bool,
) -> None:
    """Measure mappers that need no dictionary."""
    lines = rows.read_text("utf-8").splitlines() if rows.exists() else []
    known = [json.loads(line) for line in lines]
    done = [tuple(row[name] for name in KEY) for row in known]
    files = [Path(spec.partition("=")[2]).name for spec in embeddings]
    data = ", ".join(files) or EMBEDDED
    names = pairs or tuple(spec.partition("=")[0] for spec in tests) or ("en-es", "en-it", "es-it")
    for mapper in () if only_summary else mappers:
        for pair in names:
            for seed in range(seeds):
                values = (mapper, data, pair, target, drop, max_words, seed)
                if values in done:
                    continue
                with get_context("spawn").Pool(1) as process:
                    key = dict(zip(KEY, values, strict=True))
                    row = process.apply(measure, (key, embeddings, tests))
                known.append(row)
                with rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    click.echo(summary(known))


if __name__ == "__main__":
    main()

"""CSLS for a few thousand queries: brute force with numpy, faiss IndexFlatIP, and ours, in one run.

    python benchmarks/csls.py                 # the embedded data, enlarged to 50,000 words
    python benchmarks/csls.py --source wiki.en.vec --target wiki.it.vec --dictionary en-it.txt \
        --words 50000 --words 200000
    python benchmarks/csls.py --devices       # ours again, without each device that computes less

Real vocabularies are aligned by Procrustes and enlarged by mixing each word with a random other one
(weights 0.60 to 0.95), so that neighbourhoods stay realistic. CPU seconds of this process, with one
BLAS thread; ratios are to be compared, not seconds. Every method answers the same queries, and the
answers must be the same up to rounding. Memory is what Python and numpy hold beyond the vectors at
the peak; what faiss holds itself is not seen.
"""

from __future__ import annotations

import time
import tracemalloc
from functools import partial
from pathlib import Path

import click
import numpy as np
from threadpoolctl import threadpool_limits

from geomm_plugin import (
    CSLS,
    get_mapper,
    read_dictionary,
    read_embeddings,
)
from geomm_plugin.demo import FOLDER
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval.exact.bias import SearchPolicy

K = 10  # neighbours in CSLS
ROWS = 1024


def enlarge(vectors: np.ndarray, words: int, seed: int) -> np.ndarray:
    """Return so many rows: the given ones, then mixtures of each with a random other one."""
    generator = np.random.default_rng(seed)
    count = len(vectors)
    enlarged = np.empty((words, vectors.shape[1]), np.float32)
    enlarged[:count] = vectors[:words]
    for start in range(count, words, count):
        stop = min(words, start + count)
        other = vectors[generator.integers(0, count, stop - start)]
        weight = generator.uniform(0.60, 0.95, (stop - start, 1)).astype(np.float32)
        mixed = weight * vectors[: stop - start] + np.sqrt(1 - weight**2) * other
        enlarged[start:stop] = unit(mixed)
    return enlarged


def with_numpy(source: np.ndarray, target: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """Compare everything, and sort with np.partition."""
    means = np.empty(len(target), np.float32)
    for start in range(0, len(target), ROWS // 4):
        tile = target[start : start + ROWS // 4] @ source.T
        tile.partition(tile.shape[1] - K, axis=1)
        means[start : start + ROWS // 4] = tile[:, -K:].mean(axis=1)
    return answer(queries, target, means, k)


def with_faiss(source: np.ndarray, target: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """Compare everything with faiss's exact index."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(source.shape[1])
    index.add(source)
    means = index.search(target, K)[0].mean(axis=1)
    return answer(queries, target, means, k)


def answer(queries: np.ndarray, target: np.ndarray, means: np.ndarray, k: int) -> np.ndarray:
    """Return the k best targets by cos - r_S / 2, best first."""
    best = []
    for start in range(0, len(queries), ROWS // 4):
        scores = queries[start : start + ROWS // 4] @ target.T - means / 2
        rows = np.argpartition(scores, scores.shape[1] - k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, rows, axis=1), axis=1)
        best.append(np.take_along_axis(rows, order, axis=1))
    return np.concatenate(best)


def with_ours(
    source: np.ndarray, target: np.ndarray, queries: np.ndarray, k: int, **devices: bool
) -> np.ndarray:
    """Ask our index, with some of its devices switched off."""
    policy = SearchPolicy(**devices)
    return CSLS(k=K).index(source, target, policy=policy).search(queries, k).indices


def aligned(source: Path, target: Path, dictionary: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return both vocabularies in one space, at unit length."""
    embeddings = {"x": read_embeddings(source), "z": read_embeddings(target)}
    pairs = {("x", "z"): read_dictionary(dictionary)}
    space = get_mapper("procrustes").fit(embeddings, pairs).map(embeddings)
    return space.unit_vectors("x"), space.unit_vectors("z")


@click.command()
@click.option("--source", type=Path, default=FOLDER / "en.vec.gz", help="Source vectors.")
@click.option("--target", type=Path, default=FOLDER / "it.vec.gz", help="Target vectors.")
@click.option("--dictionary", type=Path, default=FOLDER / "en-it.train.txt", help="To align them.")
@click.option("--words", multiple=True, default=(50_000,), show_default=True, help="Sizes.")
@click.option("--queries", default=1500, show_default=True, help="Among the frequent words.")
@click.option("-k", "ks", multiple=True, default=(1, 10), show_default=True, help="Answers.")
@click.option("--method", "methods", multiple=True, default=("ours", "numpy", "faiss"))
@click.option("--devices", is_flag=True, help="Ours again, without each device alone.")
def main(
    source: Path,
    target: Path,
    dictionary: Path,
    words: tuple[int, ...],
    queries: int,
    ks: tuple[int, ...],
    methods: tuple[str, ...],
    devices: bool,
) -> None:
    """Measure CSLS retrieval in CPU seconds."""
    ways = {"ours": with_ours, "numpy": with_numpy, "faiss": with_faiss}
    for device in ("bounds", "near", "sketch") if devices else ():
        ways[f"no {device}"] = partial(with_ours, **{device: False})
        methods += (f"no {device}",)
    real = aligned(source, target, dictionary)
    print("| words | dimensions | k | method | CPU s | x ours | same answers | MB beyond |")
    print("|---|---|---|---|---|---|---|---|")
    for count in words:
        x, z = enlarge(real[0], count, 1), enlarge(real[1], count, 2)
        pool = min(count, 20_000, len(real[0]))
        chosen = np.random.default_rng(0).choice(pool, min(queries, pool), replace=False)
        asked = x[np.sort(chosen)]
        found, seconds = {}, {}
        for name in methods:
            # Brute force costs the same for any k: it is run once, for the largest.
            for k in [max(ks)] if name in ("numpy", "faiss") else sorted(ks):
                tracemalloc.start()
                start = time.process_time()
                found[name, k] = ways[name](x, z, asked, k)
                seconds[name, k] = time.process_time() - start
                peak = tracemalloc.get_traced_memory()[1] / 1e6
                tracemalloc.stop()
                ratio = seconds[name, k] / seconds.get(("ours", k), np.nan)
                same = np.mean(found[name, k] == found.get(("ours", k), np.nan))
                print(
                    f"| {count} | {x.shape[1]} | {k} | {name} | {seconds[name, k]:.2f} "
                    f"| {ratio:.2f} | {same:.2%} | {peak:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()

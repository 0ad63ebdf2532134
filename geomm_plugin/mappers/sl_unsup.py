"""SL-unsup: robust self-learning from sorted similarities, with words dropped at random.

    min over rotations and dictionaries D of   - sum over (i, j) in D of  x_i W_x . z_j W_z

in turns: rotations by Procrustes on D; D by CSLS in both directions, where each similarity is kept
with probability p only. p begins at 0.1 and doubles whenever the mean similarity has not risen for
some rounds; the rounds end at p = 1. The first D comes from the sorted rows of (XX')^(1/2); the
last maps are symmetrically re-weighted ones (`msf`).
Artetxe, Labaka, Agirre: "A robust self-learning method for fully unsupervised cross-lingual
mappings of word embeddings", ACL 2018.

The published sizes are words=20000, start_words=4000 and patience=50: hours on a laptop. The
defaults are for minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Annotated, ClassVar, Literal

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.induction import Paired, Plateau, rounds
from geomm_plugin.fitting.seeds.seed import frequent, unit_images, weighted_pairs
from geomm_plugin.fitting.seeds.structure import SortedRows
from geomm_plugin.fitting.unsupervised import PairFit, UnsupervisedMapper, rotation
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.mappers.msf import MSF
from geomm_plugin.registry.parameters import AtLeast, Within

MIN_GAIN = 1e-6  # of the mean similarity; a smaller rise counts as none, as published
NEIGHBORS = 10  # of CSLS
BLOCK = 2048  # rows of similarities at a time: 160 MB for 20,000 words


@dataclass(kw_only=True, eq=False, repr=False)
class SLUnsup(UnsupervisedMapper):
    """Self-learning from sorted similarities, with random dropping: SL-unsup of the paper."""

    name: ClassVar[str] = "sl_unsup"
    needs_dictionary: ClassVar[bool] = False
    supervised: ClassVar[str] = "self_learning with mapper=msf"
    by_rotation: ClassVar[bool] = True

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    words: Annotated[int, AtLeast(2)] = 2500  # most frequent words to find pairs among
    start_words: Annotated[int, AtLeast(2)] = 2500  # most frequent words of the first dictionary
    keep: Annotated[float, Within(0.01, 1)] = 0.1  # p of the first rounds
    patience: Annotated[int, AtLeast(1)] = 10  # rounds without a gain before p doubles
    max_rounds: Annotated[int, AtLeast(1)] = 500
    hub: str | None = None  # of many languages; by default that with the most words
    seed: Annotated[int, AtLeast(0)] = 0  # of what is dropped
    on_failure: Literal["error", "warn"] = "error"  # where no translations were found

    def seed_pairs(
        self, source: Embeddings, target: Embeddings, fit: PairFit
    ) -> tuple[RowPairs, str]:
        """Return the last dictionary of two languages."""
        first = SortedRows(words=self.start_words).pairs(source, target)
        x, z = (frequent(each, self.words) for each in (source, target))
        pairs = self.self_learn(x, z, first)
        return pairs, f"sorted_rows: {len(first)} pairs"

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return re-weighted maps of the last dictionary."""
        return MSF(hub=self.hub).learn(vectors, pairs, report)

    def self_learn(self, x: Matrix, z: Matrix, pairs: RowPairs) -> RowPairs:
        """Return the dictionary of the last round."""
        random = np.random.default_rng(self.seed)
        inside = (pairs.source < len(x)) & (pairs.target < len(z))
        pairs = pairs.take(np.flatnonzero(inside))
        rotate = rotation(x, z)
        keep, plateau = self.keep, Plateau(self.patience, MIN_GAIN, relative=False)

        def fit(paired: Paired) -> tuple[Matrix, Matrix]:
            return rotate(paired.pairs)

        def found(maps: tuple[Matrix, Matrix]) -> Paired:
            source, target = maps
            return best_of_kept(unit_images(x, source), unit_images(z, target), keep, random)

        walk = rounds(Paired(pairs, -np.inf), fit, found)
        with progress.task("Self-learning", self.max_rounds, "rounds") as advance:
            for each in islice(walk, self.max_rounds):
                pairs, mean = each.found
                advance(1, note=f"p {keep:.2f}, mean similarity {mean:.4f}")
                if plateau.is_reached(mean):
                    if keep >= 1:
                        break
                    keep, plateau.stalled = min(1.0, 2 * keep), 0
        return pairs


def best_of_kept(x: Matrix, z: Matrix, keep: float, random: np.random.Generator) -> Paired:
    """Return both directions' best by CSLS among similarities that are kept, and the mean best.

    The mean is over all similarities, whether they are kept or not, so that it shows how good the
    maps are.
    """
    r_target, r_source = neighborhood(x, z), neighborhood(z, x)
    forth, mean_forth = _best(x, z, r_source, keep, random)
    back, mean_back = _best(z, x, r_target, keep, random)
    rows = np.concatenate([np.arange(len(x)), back])
    columns = np.concatenate([forth, np.arange(len(z))])
    mean = (mean_forth + mean_back) / 2
    return Paired(weighted_pairs(rows, columns, np.ones(len(rows))), mean)


def neighborhood(queries: Matrix, others: Matrix) -> Matrix:
    """Return the mean cosine of each query with its nearest others."""
    k = min(NEIGHBORS, len(others))
    means = np.empty(len(queries), np.float32)
    for start in range(0, len(queries), BLOCK):
        cosines = queries[start : start + BLOCK] @ others.T
        cosines.partition(cosines.shape[1] - k, axis=1)
        means[start : start + BLOCK] = cosines[:, -k:].mean(axis=1)
    return means


def _best(
    queries: Matrix, others: Matrix, hubness: Matrix, keep: float, random: np.random.Generator
) -> tuple[RowIndices, float]:
    """Return the best other of each query among those kept, and the mean cosine of the best."""
    best = np.empty(len(queries), np.intp)
    total = 0.0
    for start in range(0, len(queries), BLOCK):
        cosines = queries[start : start + BLOCK] @ others.T
        scores = cosines - hubness / 2
        places = np.arange(len(scores))
        total += float(cosines[places, scores.argmax(axis=1)].sum())
        if keep < 1:
            scores[random.random(scores.shape, np.float32) >= keep] = -np.inf
        best[start : start + BLOCK] = scores.argmax(axis=1)
    return best, total / max(len(queries), 1)

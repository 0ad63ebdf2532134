"""Contrastive learning: pull translations together, push their nearest wrong words apart.

    s(x, z) = cos(x A_s, z A_t)

    min over A_s, A_t of  - mean over the pairs (x, z) of log softmax of s(x, z) / tau
                            among  s(x, z') / tau, z' in N(x),  and  s(x', z) / tau, x' in N(z)

N(x) are hard negatives: the target words nearest to x A_s that the dictionary does not pair with x;
N(z) alike among the source words. They are looked for anew every few steps.

Li, Liu, Collier, Korhonen, Vulić: "Improving Word Translation via Two-Stage Contrastive Learning",
ACL 2022, stage C1 without its self-learning. Gradient descent from a closed form: by default the
mixture of `geomm_plus`, which is this package's own and the better start; `start="msf"` is that of
Li et al., who whiten, rotate and re-weigh as `msf` does. The number of steps is chosen on held-out
words, so that if none helps the result *is* the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.held_out import Descending
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.mappers.geomm_plus import Mixture
from geomm_plugin.mappers.msf import MSF
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import AtLeast
from geomm_plugin.rows import Rows

TILE_ROWS = 512  # dictionary words that are compared with the vocabulary at a time: 20 MB at 10,000
REFRESH = 10  # steps after which hard negatives are looked for again

Sides: TypeAlias = tuple[Matrix, Matrix]
Negatives: TypeAlias = npt.NDArray[np.intp]  # a row of words for each pair


@dataclass(kw_only=True, eq=False, repr=False)
class Contrastive(HubMapper, Descending):
    """Fine-tune the maps of geomm_plus against the nearest wrong words, by held-out words."""

    name: ClassVar[str] = "contrastive"
    space: ClassVar[Inference] = "latent"

    start: Literal["mixture", "msf"] = "mixture"  # the first maps: of geomm_plus; msf: Li et al.
    negatives: Annotated[int, AtLeast(1)] = 50  # hard ones of each word
    temperature: Annotated[float, AtLeast(1e-3)] = 0.1  # tau
    step: Annotated[float, AtLeast(1e-9)] = 0.005  # the first step's length, as a part of ||A||
    iterations: Annotated[int, AtLeast(0)] | Literal["auto"] = "auto"  # steps; auto by validation
    max_iterations: Annotated[int, AtLeast(1)] = 40  # of which auto chooses
    vocabulary: Annotated[int, AtLeast(1)] = 10_000  # most frequent words that can be negatives
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    def learn_sides(self, edge: Edge, report: FitReport) -> Sides:
        """Return both maps after the given number of steps, or the best on held-out words."""
        both: Sides = self.descend(edge, report, lambda sides: sides, 0)
        return both

    def first_maps(self, edge: Edge, report: FitReport) -> Sides:
        """Return the maps of the closed form."""
        if self.start == "msf":
            return MSF().learn_sides(edge, report)
        mixture = Mixture()
        return mixture.two_maps(mixture.learn_edge(edge, report))

    def descent(self, edge: Edge, report: FitReport, count: int) -> Iterator[tuple[Sides, float]]:
        """Yield the maps and their loss: the start, then `count` steps."""
        sides = self.first_maps(edge, report)
        loss_of = ContrastiveLoss(edge, self.negatives, self.temperature, self.vocabulary)
        rates: list[float] = []
        for number in range(count + 1):
            if number % REFRESH == 0:
                loss_of.find_negatives(sides)
            loss, slopes = loss_of(sides)
            yield sides, loss
            if not rates:
                rates = [_rate(self.step, a, slope) for a, slope in zip(sides, slopes, strict=True)]
            source, target = (
                a - rate * slope for a, rate, slope in zip(sides, rates, slopes, strict=True)
            )
            sides = source, target


def _rate(step: float, matrix: Matrix, slope: Matrix) -> float:
    length = float(np.linalg.norm(slope))
    return step * float(np.linalg.norm(matrix)) / length if length > 0 else 0.0


class ContrastiveLoss:
    """The loss of one dictionary and its gradients in both maps, for the negatives found last."""

    def __init__(self, edge: Edge, negatives: int, temperature: float, vocabulary: int):
        self.x, self.z = edge.x, edge.z
        self.pairs = edge.pairs
        self.count = negatives
        self.temperature = temperature
        self.vocabulary = vocabulary

    def find_negatives(self, sides: Sides) -> None:
        """Look for the words nearest to each word of a pair that are no translations of it."""
        source, target = sides
        pairs, back = self.pairs, RowPairs(self.pairs.target, self.pairs.source)
        self.targets = self._nearest(self.x, source, self.z, target, pairs)
        self.sources = self._nearest(self.z, target, self.x, source, back)

    def __call__(self, sides: Sides) -> tuple[float, Sides]:
        """Return the loss, and its gradients in A_s and A_t."""
        from scipy.sparse import csr_array

        pairs = self.pairs
        x_rows, (i, negative_i) = _compact(pairs.source, self.sources)
        z_rows, (j, negative_j) = _compact(pairs.target, self.targets)
        x, u, x_lengths = _mapped(self.x[x_rows], sides[0])
        z, v, z_lengths = _mapped(self.z[z_rows], sides[1])
        scores = np.concatenate(
            [
                np.einsum("pd,pd->p", u[i], v[j])[:, None],
                _products(u, i, v, negative_j),
                _products(v, j, u, negative_i),
            ],
            axis=1,
        )
        logits = scores / self.temperature
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        labels = pairs.label() / pairs.label().sum()
        loss = -float(labels @ np.log(np.maximum(shares[:, 0], 1e-300)))
        shares[:, 0] -= 1
        shares *= labels[:, None] / self.temperature
        width = negative_j.shape[1]
        rows = np.concatenate([i, np.repeat(i, width), negative_i.ravel()])
        columns = np.concatenate([j, negative_j.ravel(), np.repeat(j, negative_i.shape[1])])
        weights = np.concatenate(
            [shares[:, 0], shares[:, 1 : 1 + width].ravel(), shares[:, 1 + width :].ravel()]
        )
        slopes = csr_array((weights, (rows, columns)), shape=(len(u), len(v)))
        return loss, (
            _through_unit(x, u, x_lengths, slopes @ v),
            _through_unit(z, v, z_lengths, slopes.T @ u),
        )

    def _nearest(
        self,
        own: Rows,
        own_map: Matrix,
        other: Rows,
        other_map: Matrix,
        pairs: RowPairs,
    ) -> Negatives:
        """Return for each pair the words nearest to its first that are not paired with it."""
        size = min(self.vocabulary, len(other))
        words, word_of_pair = np.unique(pairs.source, return_inverse=True)
        frequent = unit(other[:size] @ other_map.astype(np.float32)).astype(np.float32)
        queries = unit(own[words] @ own_map.astype(np.float32)).astype(np.float32)
        width = min(self.count, size)
        nearest = np.empty((len(words), width), np.intp)
        known = np.flatnonzero(pairs.target < size)
        for first in range(0, len(words), TILE_ROWS):
            cosines = queries[first : first + TILE_ROWS] @ frequent.T
            here = known[(word_of_pair[known] >= first) & (word_of_pair[known] < first + TILE_ROWS)]
            cosines[word_of_pair[here] - first, pairs.target[here]] = -2
            order = np.argpartition(cosines, -width, axis=1)[:, -width:]
            nearest[first : first + TILE_ROWS] = np.sort(order, axis=1)
        found: Negatives = nearest[word_of_pair]
        return found


def _compact(rows: RowIndices, more: Negatives) -> tuple[RowIndices, tuple[RowIndices, Negatives]]:
    """Return the different rows, and where among them both arguments stand."""
    unique, places = np.unique(np.concatenate([rows, more.ravel()]), return_inverse=True)
    return unique, (places[: len(rows)], places[len(rows) :].reshape(more.shape))


def _mapped(vectors: Matrix, matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return the vectors, their images at unit length, and the lengths that these had."""
    images = vectors @ matrix.astype(vectors.dtype)
    lengths = np.linalg.norm(images, axis=1, keepdims=True)
    return vectors, images / np.where(lengths > 0, lengths, 1), lengths


def _products(one: Matrix, rows: RowIndices, other: Matrix, columns: Negatives) -> Matrix:
    """Return the dots of each row with each of its own columns, some rows at a time."""
    products = np.empty(columns.shape, one.dtype)
    for first in range(0, len(rows), TILE_ROWS):
        part = slice(first, first + TILE_ROWS)
        products[part] = np.einsum("pd,pkd->pk", one[rows[part]], other[columns[part]])
    return products


def _through_unit(vectors: Matrix, images: Matrix, lengths: Matrix, slope: Matrix) -> Matrix:
    """Return the gradient in A, from that in the unit images of vectors A."""
    along = np.einsum("pd,pd->p", slope, images)[:, None]
    inner = (slope - along * images) / np.where(lengths > 0, lengths, 1)
    gradient: Matrix = (vectors.T @ inner).astype(np.float64)
    return gradient

"""Inverted softmax (Smith et al., Offline Bilingual Word Vectors, 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.registry.parameters import Within, check_parameters
from geomm_plugin.retrieval.exact.bias import POLICY, Bias, SearchPolicy
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.bounds import Quantizer, cells_for, cost_of_probes
from geomm_plugin.retrieval.exact.dots import rounding
from geomm_plugin.retrieval.interface import Index, Retrieval
from geomm_plugin.retrieval.unit_rows import AnyRows, as_unit_rows

PROBES = 4  # cells of source words that are summed word by word
FLOAT32_TEMPERATURES = (1 / 128, 1.0)  # here sums in float32 lose no more than dot products do
FLOAT32_SUM_LOSS = 4e-6  # more than a sum of exponentials loses in float32, as a share of it
SAMPLE_WORDS = 2000  # frequent words of each language that the temperature is learnt from
TEMPERATURES = 2.0 ** -np.arange(1, 7.01, 0.25)  # from 1/2 to 1/128


@dataclass(frozen=True, kw_only=True)
class InvertedSoftmax(Retrieval):
    """p(x | z) = exp(cos(x, z) / t) / sum over source words x' of exp(cos(x', z) / t).

    t is the temperature, 1 / the paper's beta. A target that is near many source words gives each
    of them little. From t = 1/128 to 1 words whose t log p differ by less than 1e-6 may change
    places; at other temperatures sums are made in float64, which takes twice the time.
    """

    name: ClassVar[str] = "inverted_softmax"
    temperature: Annotated[float, Within(1e-3, 1e3)] | None = (
        None  # None: learnt from both languages
    )

    def index(self, source: AnyRows, target: AnyRows, *, policy: SearchPolicy = POLICY) -> Index:
        """Prepare to search; the sums are computed when they are needed."""
        check_parameters(self)
        source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
        temperature = self.temperature
        if temperature is None:
            frequent = slice(SAMPLE_WORDS)
            temperature = learn_temperature(source.all()[frequent], target.all()[frequent])
        return BiasedIndex(target, LogSumBias(source, target, temperature, policy))


class LogSumBias(Bias):
    """bias(z) = t log of the mean over source words x' of exp(cos(x', z) / t), from -1 to 1.

    The sum over a cell of n words with mean m is at least n exp(m . z / t), by Jensen's
    inequality; the cells nearest to z are summed word by word.
    """

    def __init__(
        self, source: AnyRows, target: AnyRows, temperature: float, policy: SearchPolicy = POLICY
    ):
        super().__init__(source, target, policy)
        self.tiles = policy.tiles
        self.temperature = temperature
        # A high temperature multiplies what is rounded off, a low one leaves nearly equal biases.
        lowest, highest = FLOAT32_TEMPERATURES
        is_mild = lowest <= temperature <= highest
        self.precision: type[np.floating[Any]] = np.float32 if is_mild else np.float64

    def compute(self, rows: RowIndices) -> Vector:
        """Return the bias of some targets."""
        bias = np.empty(len(rows))
        for part in self.tiles.of_rows(len(rows)):
            targets = self.target[rows[part]].astype(self.precision, copy=False)
            sums = LogSums(len(targets), self.temperature)
            for tile in self.tiles.half.of_columns(len(self.source)):
                words = self.source[tile].astype(self.precision, copy=False)
                sums.add(targets @ words.T)
            bias[part] = sums.bias(len(self.source))
        return bias

    def bound(self) -> Vector:
        """Return the bound from cells."""
        quantizer = Quantizer(self.source)
        members = [quantizer.members(cell) for cell in range(len(quantizer))]
        counts = np.array([len(rows) for rows in members])
        means = np.stack([self.source[rows].sum(axis=0) for rows in members])
        means /= np.maximum(counts, 1).astype(np.float32)[:, None]
        weights = self.temperature * np.log(np.maximum(counts, 0.1)).astype(np.float32)
        probed = quantizer.nearest(self.target, min(PROBES, len(quantizer)))
        sums = LogSums(len(self.target), self.temperature)
        for part in self.tiles.half.of_columns(len(self.target)):
            cells = self.target[part] @ means.T + weights
            cells[:, counts == 0] = -np.inf
            np.put_along_axis(cells, probed[part], -np.inf, axis=1)
            sums.add(cells, part)
        for rows, some in quantizer.probes(probed, self.tiles):
            sums.add(self.target[rows] @ self.source[some].T, rows)
        margin = 2 * rounding(self.target.shape[1]) + FLOAT32_SUM_LOSS * self.temperature
        return sums.bias(len(self.source)) - margin

    def cost_of_bound(self) -> float:
        """Return how many dot products the quantizer, the means and the probes take."""
        means = cells_for(len(self.source)) * len(self.target)
        return means + cost_of_probes(len(self.source), len(self.target), PROBES)

    def scores(self, gaps: Matrix, nearest: Vector) -> Matrix:
        """Return p(x | z)."""
        scores: Matrix = np.exp(gaps / self.temperature) / len(self.source)
        return np.minimum(scores, 1)  # rounding may leave a probability just above 1


class LogSums:
    """t log of a growing sum of exp(value / t), for each row."""

    def __init__(self, rows: int, temperature: float):
        self.temperature = temperature
        self.largest = np.full(rows, -np.inf)
        self.sums = np.zeros(rows)  # of exp((value - largest) / t): nothing overflows

    def add(self, values: Matrix, rows: RowIndices | slice = slice(None)) -> None:
        """Add the values of each row, with their precision; changes them."""
        largest = np.maximum(self.largest[rows], values.max(axis=1, initial=-np.inf))
        shift = np.where(np.isfinite(largest), largest, 0)
        values -= shift[:, None].astype(values.dtype)
        values *= values.dtype.type(1 / self.temperature)
        np.exp(values, out=values)
        decay = np.exp((self.largest[rows] - shift) / self.temperature)
        self.sums[rows] = self.sums[rows] * decay + values.sum(axis=1)
        self.largest[rows] = largest

    def bias(self, count: int) -> Vector:
        """Return t log of the sums / count."""
        bias: Vector = self.largest + self.temperature * np.log(self.sums / count)
        return bias


def learn_temperature(source: Matrix, target: Matrix) -> float:
    """Return the temperature that makes each source word most likely, given its nearest target.

    The paper maximizes the likelihood of the training dictionary. A retrieval knows none; the
    nearest targets stand in for it, and on real dictionaries the maximum is at the same place.
    """
    cosines = (source @ target.T).astype(np.float64)
    nearest = cosines.argmax(axis=1)
    paired = cosines[np.arange(len(source)), nearest]
    likelihoods = []
    for temperature in TEMPERATURES:
        sums = np.exp((cosines - 1) / temperature).sum(axis=0)
        likelihoods.append(float(np.mean((paired - 1) / temperature - np.log(sums[nearest]))))
    return float(TEMPERATURES[int(np.argmax(likelihoods))])

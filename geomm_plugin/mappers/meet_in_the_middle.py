"""Meet in the middle: after a mapper, move both languages to the mean of each translation pair.

    mu = (x A_s + z A_t) / 2  for each pair
    min over T_s of ||X A_s T_s - mu||^2,     min over T_t of ||Z A_t T_t - mu||^2
    A_s <- A_s T_s,     A_t <- A_t T_t

Doval, Camacho-Collados, Espinosa-Anke, Schockaert: "Improving Cross-Lingual Word Embeddings by
Meeting in the Middle", EMNLP 2018. After MSF this is the system MSF_mu of the GeoMM paper; here it
can follow any linear mapper. With many languages, a language moves to the means of all its
dictionaries at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import ParameterError
from geomm_plugin.fitting.moments import cross, gram
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.mappers.msf import power
from geomm_plugin.normalize import NormalizedVectors
from geomm_plugin.registry import as_mapper


@dataclass(kw_only=True, eq=False, repr=False)
class MeetInTheMiddle(LinearMapper):
    """After another mapper, move translations to their mean."""

    name: ClassVar[str] = "meet_in_the_middle"

    normalize: tuple[str, ...] | None = None  # type: ignore[assignment]  # those of the mapper
    mapper: str = "procrustes"  # the linear mapper before, e.g. geomm:regularization=100

    @property
    def joint(self) -> bool:  # type: ignore[override]
        """Whether the mapper before learns many languages at once."""
        return self._first().joint

    def steps(self) -> tuple[str, ...]:
        """Return the steps given, or those of the mapper before."""
        return self._first().steps() if self.normalize is None else self.normalize

    def learn(
        self, vectors: Mapping[str, NormalizedVectors], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> dict[str, Matrix]:
        """Return the first mapper's matrices, each followed by its least squares to the means."""
        first = self._first()
        first.report_ = {}
        maps = first.learn(vectors, pairs)
        self.report_["first"] = first.report_
        return to_means(vectors, pairs, maps)

    def _first(self) -> LinearMapper:
        first = as_mapper(self.mapper)
        if not isinstance(first, LinearMapper):
            raise ParameterError(
                f"{self.name}: mapper={self.mapper!r} is not possible; it must be a linear mapper, "
                "such as 'msf', 'geomm' or 'procrustes'."
            )
        return first


@dataclass(kw_only=True, eq=False, repr=False)
class MSFMu(MeetInTheMiddle):
    """MSF, after which translations move to their mean."""

    name: ClassVar[str] = "msf_mu"

    mapper: str = "msf"  # the linear mapper before, e.g. geomm:regularization=100


def to_means(
    vectors: Mapping[str, NormalizedVectors],
    pairs: Mapping[tuple[str, str], RowPairs],
    maps: Mapping[str, Matrix],
) -> dict[str, Matrix]:
    """Return A T of each language, T = (X'X)^+ X'mu over the mapped rows of all its pairs."""
    edges = [(s, t, found) for (s, t), found in pairs.items()]
    edges += [(t, s, found.reverse()) for s, t, found in edges]
    moved: dict[str, Matrix] = {}
    for language, matrix in maps.items():
        squares = np.zeros((matrix.shape[1],) * 2)
        products = np.zeros_like(squares)
        for one, other, found in edges:
            if one != language:
                continue
            own = matrix.T @ gram(vectors[one], found.source, found.labels) @ matrix
            both = cross(vectors[one], vectors[other], found)
            squares += own
            products += (own + matrix.T @ both @ maps[other]) / 2
        moved[language] = matrix @ power(squares, -1) @ products
    return moved

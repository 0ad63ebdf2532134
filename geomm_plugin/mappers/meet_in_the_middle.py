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
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Wrapper
from geomm_plugin.fitting.moments import cross, gram
from geomm_plugin.mapper import Mapper, Pairs, Vectors
from geomm_plugin.mappers.msf import power


@dataclass(kw_only=True, eq=False, repr=False)
class MeetInTheMiddle(Wrapper):
    """After another mapper, move translations to their mean."""

    name: ClassVar[str] = "meet_in_the_middle"

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return the first mapper's matrices, each followed by its least squares to the means."""
        return to_means(vectors, pairs, self.inner().learn(vectors, pairs, report))


@dataclass(kw_only=True, eq=False, repr=False)
class MSFMu(MeetInTheMiddle):
    """MSF, after which translations move to their mean."""

    name: ClassVar[str] = "msf_mu"

    mapper: str | Mapper = "msf"  # the linear mapper before, e.g. geomm:regularization=100


def to_means(vectors: Vectors, pairs: Pairs, maps: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """Return A T of each language, T = (X'X)^+ X'mu over the mapped rows of all its pairs."""
    edges = [(s, t, own) for (s, t), own in pairs.items()]
    edges += [(t, s, own.reverse()) for s, t, own in edges]
    moved: dict[str, Matrix] = {}
    for language, matrix in maps.items():
        squares = np.zeros((matrix.shape[1],) * 2)
        products = np.zeros_like(squares)
        for one, other, own in edges:
            if one != language:
                continue
            square = matrix.T @ gram(vectors[one], own.source, own.labels) @ matrix
            both = cross(vectors[one], vectors[other], own)
            squares += square
            products += (square + matrix.T @ both @ maps[other]) / 2
        moved[language] = matrix @ power(squares, -1) @ products
    return moved

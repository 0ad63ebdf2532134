"""UMWE's refinement: one rotation for each language, fitted to the pairs of *all* languages.

    min over rotations R_L of   sum over all pairs of languages (K, L), sum over (i, j) in D_KL of
                                |x_i R_K - z_j R_L|^2

in turns: D_KL holds the mutual best translations by CSLS of the last rotations, for every pair of
languages, not only those with the hub; each R_L is the Procrustes solution against all others. For
two languages it is Procrustes refinement. The start is any seed, between each language and the hub.
Chen and Cardie: "Unsupervised Multilingual Word Embeddings", EMNLP 2018, multilingual
pseudo-supervised refinement; their start is adversarial (`seeds=adversarial`, the extra `torch`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Annotated, ClassVar, Literal

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import FitReport, RoundReport
from geomm_plugin.fitting.induction import Induced, induce, rounds
from geomm_plugin.fitting.moments import cross
from geomm_plugin.fitting.unsupervised import UnsupervisedMapper
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast

SWEEPS = 3  # over the languages, in each round: rotations settle against each other


@dataclass(kw_only=True, eq=False, repr=False)
class UMWE(UnsupervisedMapper):
    """Rotations without a dictionary, refined over the pairs of all languages at once."""

    name: ClassVar[str] = "umwe"
    joint: ClassVar[bool] = True
    needs_dictionary: ClassVar[bool] = False
    supervised: ClassVar[str] = "gpa"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    seeds: tuple[str, ...] = ("gromov_wasserstein", "icp")  # in turn, until one is confirmed
    vocabulary: Annotated[int, AtLeast(1)] = 10_000  # most frequent words to find pairs among
    rounds: Annotated[int, AtLeast(1)] = 5  # as published
    hub: str | None = None  # where the start leads; by default the language with the most words
    seed: Annotated[int, AtLeast(0)] = 0  # of what is random in a seed
    on_failure: Literal["error", "warn"] = "error"  # where no translations were found

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return rotations after rounds over all pairs of languages."""
        report.hub = hub = next(iter(pairs))[1]
        maps: dict[str, Matrix] = {hub: np.eye(vectors[hub].shape[1])}
        for (source, target), own in pairs.items():
            maps[source] = polar(cross(vectors[source], vectors[target], own))
        edges = self.confirmed_edges(pairs)

        def fit(induced: Induced) -> dict[str, Matrix]:
            maps.update(refine(vectors, induced.pairs, maps, hub))
            return maps

        def found(maps: dict[str, Matrix]) -> Induced:
            return induce(vectors, maps, edges, self.vocabulary, "mutual")

        for each in islice(rounds(found(maps), fit, found), self.rounds):
            induced = each.pairs
            report.rounds.append(RoundReport(self.vocabulary, len(induced), induced.mean_csls))
        return maps

    def confirmed_edges(self, pairs: Pairs) -> list[LanguagePair]:
        """Return all pairs of languages."""
        return list(combinations(sorted({language for edge in pairs for language in edge}), 2))


def refine(
    vectors: Vectors, pairs: Pairs, maps: Mapping[str, Matrix], hub: str
) -> dict[str, Matrix]:
    """Return rotations that bring the pairs of all languages together; the hub stays in place."""
    crosses = {edge: cross(vectors[edge[0]], vectors[edge[1]], pairs[edge]) for edge in pairs}
    crosses |= {(target, source): table.T for (source, target), table in crosses.items()}
    turned = dict(maps)
    for _ in range(SWEEPS):
        for language in sorted(turned):
            if language != hub:
                others = (other for other in sorted(turned) if (language, other) in crosses)
                goals = [crosses[language, other] @ turned[other] for other in others]
                turned[language] = polar(np.sum(goals, axis=0))
    return turned

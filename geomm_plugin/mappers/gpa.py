"""Generalized Procrustes analysis: rotate every language towards the mean of all.

    min over R_i'R_i = I of   sum over languages i of ||X_i R_i - G||^2,   G = mean of X_i R_i

The rows of the X_i are translations of each other. Written without G, n times this is

    sum over pairs of languages of ||X_i R_i - X_j R_j||^2  =  const - 2 sum of tr(R_i' M_ij R_j)

with M_ij = X_i'X_j, so only d x d matrices are needed, and languages need no words that *all*
of them have. Each language in turn is rotated to the sum of the others (the mean without itself),
which never raises the loss:

    sum over j of M_ij R_j = P S V'  (SVD),     R_i = P V'

A pair of languages without a dictionary gets the pairs that chain through a shared language
(perro - dog - cane). Gower (1975); Kementchedjhieva, Ruder, Cotterell, Søgaard: "Generalizing
Procrustes Analysis for Better Bilingual Dictionary Induction", CoNLL 2018. For two languages the
minimum is Procrustes', and the shared space is as near to one language as to the other.

Languages of fewer dimensions than the largest are embedded there: R_i is semi-orthogonal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport, SolverRun
from geomm_plugin.fitting.moments import cross
from geomm_plugin.language_graph import LanguagePair, choose_hub, spanning_tree
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast

NO_PAIRS = RowPairs(np.empty(0, np.intp), np.empty(0, np.intp))


@dataclass(kw_only=True, eq=False, repr=False)
class GPA(LinearMapper):
    """Rotate all languages to their common mean: Procrustes for two, a joint method for more."""

    name: ClassVar[str] = "gpa"
    joint: ClassVar[bool] = True

    chain: bool = True  # pair languages without a dictionary through a shared language
    max_iterations: Annotated[int, AtLeast(1)] = 100  # rounds over all languages
    tolerance: Annotated[float, AtLeast(0)] = 1e-8  # stop when a round gains less, relatively

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return the rotations."""
        linked = chained(pairs) if self.chain else dict(pairs)
        moments = {(s, t): cross(vectors[s], vectors[t], own) for (s, t), own in linked.items()}
        moments |= {(t, s): matrix.T for (s, t), matrix in moments.items()}
        dimensions = {language: view.shape[1] for language, view in vectors.items()}
        rotations = _start(moments, pairs, dimensions)
        gains = [_agreement(moments, rotations)]
        stopped = f"The limit of {self.max_iterations} rounds was reached."
        while len(gains) <= self.max_iterations:
            for language in rotations if len(rotations) > 2 else []:  # two are exact from the start
                rotations[language] = polar(_towards(language, moments, rotations))
            gains.append(_agreement(moments, rotations))
            if gains[-1] - gains[-2] <= self.tolerance * abs(gains[-1]):
                stopped = f"A round gained less than {self.tolerance:g} (relative)."
                break
        report.solver[ALL_DICTIONARIES] = SolverRun("alternation", len(gains) - 1, stopped)
        report.extras["agreement"] = gains
        report.extras["pairs with chains"] = {"-".join(edge): len(p) for edge, p in linked.items()}
        return rotations


def chained(pairs: Pairs) -> dict[LanguagePair, RowPairs]:
    """Add, for languages without a dictionary, the pairs that meet in a word of a shared one.

    Where several languages are shared, their pairs are joined; a pair that repeats counts once.
    """
    both = dict(pairs) | {(t, s): own.reverse() for (s, t), own in pairs.items()}
    result = dict(pairs)
    languages = sorted({language for edge in pairs for language in edge})
    for position, first in enumerate(languages):
        for second in languages[position + 1 :]:
            if (first, second) in both:
                continue
            through = [NO_PAIRS] + [
                _chain(both[first, shared], both[shared, second])
                for shared in languages
                if (first, shared) in both and (shared, second) in both
            ]
            table = np.concatenate([np.stack([p.source, p.target], axis=1) for p in through])
            table, once = np.unique(table, axis=0, return_index=True)
            if len(table):
                labels = np.concatenate([p.label() for p in through])[once]
                source, target = np.ascontiguousarray(table.T)
                result[first, second] = RowPairs(source, target, labels=labels)
    return result


def _chain(first: RowPairs, second: RowPairs) -> RowPairs:
    """Return the pairs for which first's target is second's source; labels are multiplied."""
    second = second.take(np.argsort(second.source, kind="stable"))
    start = np.searchsorted(second.source, first.target, side="left")
    count = np.searchsorted(second.source, first.target, side="right") - start
    # Positions in `second`: from each start on, so many as there are equal words.
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    there = np.repeat(start, count) + within
    labels = np.repeat(first.label(), count) * second.label()[there]
    return RowPairs(np.repeat(first.source, count), second.target[there], labels=labels)


def _start(
    moments: Mapping[LanguagePair, Matrix],
    pairs: Pairs,
    dimensions: Mapping[str, int],
) -> dict[str, Matrix]:
    """Return Procrustes rotations along a tree from a language of the largest dimension."""
    largest = max(dimensions.values())
    hub = choose_hub(pairs)
    if dimensions[hub] < largest:
        hub = min(language for language in dimensions if dimensions[language] == largest)
    rotations: dict[str, Matrix] = {hub: np.eye(largest)}
    for language, parent in spanning_tree(pairs, hub):
        rotations[language] = polar(moments[language, parent] @ rotations[parent])
    return {language: rotations[language] for language in dimensions}


def _towards(
    language: str, moments: Mapping[LanguagePair, Matrix], rotations: Mapping[str, Matrix]
) -> Matrix:
    """Return the sum over the other languages of M_ij R_j."""
    others = [other for other in rotations if (language, other) in moments]
    return sum(
        (moments[language, other] @ rotations[other] for other in others),
        start=np.zeros_like(rotations[language]),
    )


def _agreement(moments: Mapping[LanguagePair, Matrix], rotations: Mapping[str, Matrix]) -> float:
    """Return the sum over pairs of languages of tr(R_i' M_ij R_j), which grows to the maximum."""
    total = sum(
        float(np.vdot(rotations[language], _towards(language, moments, rotations)))
        for language in rotations
    )
    return total / 2

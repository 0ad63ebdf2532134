"""[evaluate] Why an alignment is good or bad: dictionary, hubs, and how alike two spaces are.

The numbers themselves are in evaluation.language_similarity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    RowPairs,
    as_dictionaries,
    check_key,
    row_pairs,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import DictionaryError
from geomm_plugin.evaluation.language_similarity import (
    FAR,
    centered,
    hubness,
    laplacian_difference,
    own_hubness,
    relational_similarity,
    singular_value_gap,
)
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import CSLS, Cosine

HUB_WORDS = 10_000  # frequent words of each language that hubs are looked for among
RELATED_WORDS = 1000  # translated words whose relations are compared
FOLDS = 5
MAX_IDENTICAL_SHARE = 0.2  # of a dictionary's pairs, above which the advice says so
SUSPICIOUS_BELOW_MEDIAN = 3.0  # robust standard deviations


@dataclass(frozen=True)
class SuspiciousPair:
    """A pair of the dictionary that the other pairs contradict: far apart, another one nearer."""

    source: str
    target: str
    cosine: float  # after a fit without this pair
    suggestion: str  # the best translation of the source word in that fit; never the target


@dataclass(frozen=True)
class Diagnosis:
    """What may explain the alignment of one pair of languages."""

    pair: tuple[str, str]
    n_pairs: int  # pairs in both vocabularies
    coverage: float  # share of the dictionary's source words that have such a pair
    missing_source: int
    missing_target: int
    identical: float  # share of the dictionary's pairs that are one word twice: names, numbers
    found_in_lower_case: int  # missing words that the vocabulary holds in lower case
    hubness: dict[str, float]  # "source", "target" by themselves; "cosine", "csls" when mapped
    relational_similarity: float
    laplacian_difference: float
    singular_value_gap: float
    suspicious: tuple[SuspiciousPair, ...]

    def row(self) -> dict[str, Any]:
        """Return everything as one JSON object."""
        return {
            "pair": "-".join(self.pair),
            "n_pairs": self.n_pairs,
            "coverage": self.coverage,
            "missing_source": self.missing_source,
            "missing_target": self.missing_target,
            "identical": self.identical,
            "found_in_lower_case": self.found_in_lower_case,
            **{f"hubness_{name}": value for name, value in self.hubness.items()},
            "relational_similarity": self.relational_similarity,
            "laplacian_difference": self.laplacian_difference,
            "singular_value_gap": self.singular_value_gap,
            "suspicious_pairs": [vars(pair) for pair in self.suspicious],
            "advice": self.advice(),
        }

    def advice(self) -> list[str]:
        """Return what the numbers suggest, in sentences."""
        advice = []
        if self.coverage < 0.7:
            advice.append(
                f"Only {self.coverage:.0%} of the dictionary's source words have a pair in both "
                "vocabularies. Read more words, or check the language order, letter case and "
                "tokenization."
            )
        if self.found_in_lower_case:
            advice.append(
                f"{self.found_in_lower_case} missing words are there in lower case. Lower-case "
                "the dictionary."
            )
        if self.identical > MAX_IDENTICAL_SHARE:
            advice.append(
                f"{self.identical:.0%} of the pairs are the same word twice, such as names, which "
                "are easy to translate. Look at scores by spelling (--by spelling)."
            )
        if self.n_pairs < 500:
            advice.append(
                f"{self.n_pairs} pairs are few. Add identical words, or use a mapper that extends "
                "its dictionary, such as geomm_semi."
            )
        if self.hubness["cosine"] > 2 * max(self.hubness["csls"], 0.5):
            advice.append(
                f"Hubs: skewness {self.hubness['cosine']:.1f} by cosine, "
                f"{self.hubness['csls']:.1f} by CSLS. Retrieve by CSLS."
            )
        if self.relational_similarity < FAR:
            advice.append(
                f"The spaces are far from isometric (relational similarity "
                f"{self.relational_similarity:.2f}). A rotation will not do; use a mapper that "
                "learns a metric, such as geomm, and expect less."
            )
        if len(self.suspicious) > 0.02 * self.n_pairs:
            advice.append(
                f"{len(self.suspicious)} pairs contradict the others. Look through them, and take "
                "out what is wrong."
            )
        return advice


def diagnose(
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    mapper: str | Mapper = "procrustes",
    *,
    seed: int = 0,
) -> list[Diagnosis]:
    """Say for each dictionary what may explain a good or a bad alignment.

    Parameters
    ----------
    mapper
        Aligns each pair, to see the hubs of the shared space and the pairs that do not fit in.
    """
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    chosen = as_mapper(mapper)
    given = as_dictionaries(dictionaries)
    for key in given:
        check_key(key, languages)
    diagnoses = []
    with progress.task("Diagnosing", len(given), "pairs") as advance:
        for (source, target), dictionary in given.items():
            case = Case(source, target, languages[source], languages[target], dictionary)
            diagnoses.append(case.diagnose(chosen, seed))
            advance(1)
    return diagnoses


@dataclass(frozen=True)
class Case:
    """One pair of languages and its dictionary."""

    source: str
    target: str
    x: Embeddings
    z: Embeddings
    dictionary: Dictionary

    def diagnose(self, mapper: Mapper, seed: int) -> Diagnosis:
        """Look at the dictionary, at both spaces, and at a mapping between them."""
        pairs = row_pairs(self.dictionary, self.x, self.z)
        if len(pairs) < 2 * FOLDS:
            raise DictionaryError(
                f"Only {len(pairs)} of the {len(self.dictionary)} pairs are in both vocabularies "
                f"({self.source}, {self.target}); a diagnosis needs {2 * FOLDS}. Check the "
                "language order and the letter case of the dictionary."
            )
        x, z = centered(self.x), centered(self.z)
        here, there = _one_to_one(pairs, seed)
        lower = sum(w.lower() in self.x for w in pairs.missing_source)
        lower += sum(w.lower() in self.z for w in pairs.missing_target)
        fitted = self._fit(mapper, self.dictionary)
        mapped = self._mapped(fitted)
        return Diagnosis(
            (self.source, self.target),
            len(pairs),
            len(np.unique(pairs.source)) / len({word for word, _ in self.dictionary}),
            len(pairs.missing_source),
            len(pairs.missing_target),
            sum(word == other for word, other in self.dictionary) / len(self.dictionary),
            lower,
            {
                "source": own_hubness(unit(x[:HUB_WORDS])),
                "target": own_hubness(unit(z[:HUB_WORDS])),
                "cosine": hubness(Cosine().index(*mapped), mapped[0], len(mapped[1])),
                "csls": hubness(CSLS().index(*mapped), mapped[0], len(mapped[1])),
            },
            relational_similarity(unit(x[here]), unit(z[there])),
            laplacian_difference(unit(x[here]), unit(z[there])),
            singular_value_gap(x[:HUB_WORDS], z[:HUB_WORDS]),
            self._suspicious(mapper, pairs, seed),
        )

    def _fit(self, mapper: Mapper, dictionary: Dictionary) -> Mapper:
        fresh = mapper.clone()
        embeddings = {self.source: self.x, self.target: self.z}
        return fresh.fit(embeddings, {(self.source, self.target): dictionary})

    def _mapped(self, fitted: Mapper, targets: RowIndices | None = None) -> tuple[Matrix, Matrix]:
        rows = slice(HUB_WORDS) if targets is None else targets
        return (
            unit(fitted.transform(self.source, self.x.vectors[:HUB_WORDS])).astype(np.float32),
            unit(fitted.transform(self.target, self.z.vectors[rows])).astype(np.float32),
        )

    def _suspicious(self, mapper: Mapper, pairs: RowPairs, seed: int) -> tuple[SuspiciousPair, ...]:
        """Fit without a fifth of the pairs at a time; list those that come out far apart.

        A pair whose own target is the best translation is right, however far apart.
        """
        words = [(self.x.words[i], self.z.words[j]) for i, j in _zip(pairs)]
        fold = np.random.default_rng(seed).permutation(len(pairs)) % FOLDS
        cosines = np.empty(len(pairs))
        best = np.empty(len(pairs), np.intp)
        for number in range(FOLDS):
            out = np.flatnonzero(fold == number)
            fitted = self._fit(mapper, Dictionary(words[i] for i in np.flatnonzero(fold != number)))
            x = unit(fitted.transform(self.source, self.x.vectors[pairs.source[out]]))
            z = unit(fitted.transform(self.target, self.z.vectors[pairs.target[out]]))
            cosines[out] = np.einsum("ij,ij->i", x, z)
            targets = np.union1d(np.arange(min(HUB_WORDS, len(self.z))), pairs.target[out])
            index = CSLS().index(*self._mapped(fitted, targets))
            best[out] = targets[index.search(x.astype(np.float32), 1).indices[:, 0]]
        median = np.median(cosines)
        spread = 1.4826 * np.median(np.abs(cosines - median))
        low = np.flatnonzero(
            (cosines < median - SUSPICIOUS_BELOW_MEDIAN * spread) & (best != pairs.target)
        )
        return tuple(
            SuspiciousPair(words[i][0], words[i][1], float(cosines[i]), self.z.words[best[i]])
            for i in low[np.argsort(cosines[low])]
        )


def _one_to_one(pairs: RowPairs, seed: int) -> tuple[RowIndices, RowIndices]:
    """Return up to RELATED_WORDS pairs in which no word stands twice."""
    order = np.random.default_rng(seed).permutation(len(pairs))
    seen_source: set[int] = set()
    seen_target: set[int] = set()
    chosen = []
    for number in order:
        here, there = int(pairs.source[number]), int(pairs.target[number])
        if here not in seen_source and there not in seen_target:
            seen_source.add(here)
            seen_target.add(there)
            chosen.append(number)
    rows = np.sort(np.array(chosen[:RELATED_WORDS]))
    return pairs.source[rows], pairs.target[rows]


def _zip(pairs: RowPairs) -> list[tuple[int, int]]:
    return list(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))

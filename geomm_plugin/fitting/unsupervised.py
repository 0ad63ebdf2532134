"""[fit] Learning without a dictionary: seeds in turn, until one is confirmed.

    seed pairs -> rotations among 2,000 words -> the method's own maps among 4,000 words

Each stage is rounds of fitting and pairing up in which nothing given is kept: most pairs of a seed
are wrong, and every round must be free to drop them. Each pair counts by its CSLS; a stage ends
when the mean CSLS has not risen for some rounds. The first seed whose maps are confirmed (see
`confirmation`) is taken, else the one whose pairs agree most. Pairs of a seed by spelling are
spread over the whole vocabulary and skip the rotations; such seeds are noisy, so that the spelling
bonus is kept for more rounds, also among 10,000 words, before the method goes on by vectors alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError, UnsupervisedError
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.confirmation import (
    LOOKED_AT_WORDS,
    Evidence,
    agreement_of_pairs,
    cognate_precision,
    confirm,
    judge,
    needed_agreement,
    split_half_agreement,
)
from geomm_plugin.fitting.induction import Plateau, rounds
from geomm_plugin.fitting.moments import cross
from geomm_plugin.fitting.seeds import Language, Seed
from geomm_plugin.fitting.seeds.seed import unit_images, weighted_pairs
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Vectors
from geomm_plugin.retrieval import PairBonus, mutual_neighbors
from geomm_plugin.rows import Rows

MIN_CSLS_GAIN = 5e-3  # of the best mean CSLS so far, relative; a smaller rise counts as none
LEAST_WEIGHT = 1e-3  # CSLS that the weight of a pair does not fall below

# From pairs to the maps of both languages.
PairFit: TypeAlias = Callable[[RowPairs], tuple[Matrix, Matrix]]


class ConfirmedMapper(LinearMapper):
    """A mapper that, where it had no dictionary, refuses maps that found no translations."""

    on_failure: Literal["error", "warn"]
    hub: str | None = None
    by_rotation: ClassVar[bool] = False  # pairs were found by rotations, whatever the last maps are

    def confirmed_edges(self, languages: Mapping[str, Language]) -> Iterable[LanguagePair]:
        """Return the pairs of languages whose maps must be confirmed: by default with the hub."""
        return hub_edges(languages, self.hub)

    def report_agreement(
        self,
        vectors: Vectors,
        maps: Mapping[str, Matrix],
        edges: Iterable[LanguagePair],
        report: FitReport,
        seed: int,
    ) -> None:
        """Write down how far the pairs of some languages' maps confirm each other."""
        report.recover = {
            "-".join(edge): split_half_agreement(vectors, maps, edge, seed) for edge in edges
        }

    def confirm(
        self,
        words: Mapping[str, Sequence[str]],
        vectors: Vectors,
        maps: Mapping[str, Matrix],
        report: FitReport,
    ) -> None:
        """Refuse (or warn of) maps that found no translations, by the evidence there is."""
        languages = {name: Language(words[name], vectors[name]) for name in vectors}
        edges = self.confirmed_edges(languages)
        confirm(self.name, languages, maps, edges, report, self.on_failure, self.by_rotation)


@dataclass(frozen=True)
class Stage:
    """Rounds among the most frequent words, until nothing is gained."""

    words: int
    max_rounds: int
    patience: int


ROTATIONS = Stage(words=2000, max_rounds=20, patience=3)
OWN_MAPS = Stage(words=4000, max_rounds=40, patience=6)
WITH_LETTERS = Stage(words=10_000, max_rounds=8, patience=3)


class Paired(NamedTuple):
    """The mutual best of some maps, each weighted by its CSLS, and their mean CSLS."""

    pairs: RowPairs
    mean_csls: float


@dataclass(frozen=True)
class Growth:
    """The last maps of a stage, and the mutual pairs that they find."""

    source: Matrix
    target: Matrix
    pairs: RowPairs
    mean_csls: float
    rounds: int


def grow(
    x: Matrix,
    z: Matrix,
    pairs: RowPairs,
    fit: PairFit,
    stage: Stage,
    raised: PairBonus | None = None,
) -> Growth:
    """Fit and pair up until the mean CSLS rises no more.

    Parameters
    ----------
    x, z
        Normalized vectors, of at least the words of the stage and of the pairs.
    raised
        Pairs of rows that compete with more than their CSLS.
    """
    x, z = x[: stage.words], z[: stage.words]
    inside = None if raised is None else raised.within(len(x), len(z))
    plateau = Plateau(stage.patience, MIN_CSLS_GAIN)
    walk = rounds(
        Paired(pairs, -np.inf),
        lambda paired: fit(paired.pairs),
        lambda maps: mutual_pairs(x, z, *maps, inside),
    )
    count = 0
    for last in islice(walk, stage.max_rounds):
        count += 1
        if not len(last.found.pairs) or plateau.is_reached(last.found.mean_csls):
            break
    return Growth(*last.maps, *last.found, count)


def rotation(x: Matrix | Rows, z: Matrix | Rows) -> PairFit:
    """Return what fits a rotation of the source onto the target to weighted pairs."""

    def fit(pairs: RowPairs) -> tuple[Matrix, Matrix]:
        return polar(cross(x, z, pairs)), np.eye(z.shape[1])

    return fit


def mutual_pairs(
    x: Matrix, z: Matrix, source: Matrix, target: Matrix, raised: PairBonus | None = None
) -> Paired:
    """Return the pairs that are each other's best after the maps, and their mean CSLS."""
    rows, columns, scores = mutual_neighbors(
        unit_images(x, source), unit_images(z, target), bonus=raised
    )
    pairs = weighted_pairs(rows, columns, np.maximum(scores, LEAST_WEIGHT))
    return Paired(pairs, float(scores.mean()) if len(scores) else -1.0)


@dataclass(frozen=True)
class Start:
    """The pairs that a seed grew into, and how far they agree with each other."""

    seed: str
    seed_pairs: int
    pairs: RowPairs
    agreement: float
    is_confirmed: bool

    def __str__(self) -> str:
        return f"{self.seed}: {self.seed_pairs} pairs"


def hub_edges(languages: Mapping[str, Language], hub: str | None = None) -> list[LanguagePair]:
    """Return (language, hub) for all languages but the hub: by default that with the most words."""
    if hub is not None and hub not in languages:
        raise LanguagesError(
            f"The hub {hub!r} is none of the languages ({', '.join(languages)}). Name one."
        )
    chosen = min(languages, key=lambda n: (-len(languages[n]), n)) if hub is None else hub
    return [(language, chosen) for language in sorted(languages) if language != chosen]


def seeded_pairs(
    languages: Mapping[str, Language],
    hub: str | None,
    seeds: Sequence[Seed],
    fit_of: Callable[[LanguagePair], PairFit],
    random_seed: int,
    report: FitReport,
) -> dict[LanguagePair, RowPairs]:
    """Return what the seeds find between each language and the hub, grown by a method's maps."""
    pairs: dict[LanguagePair, RowPairs] = {}
    for source, target in hub_edges(languages, hub):
        fit = fit_of((source, target))
        start = find_start(languages[source], languages[target], seeds, fit, random_seed)
        pairs[source, target] = start.pairs
        report.seeds[f"{source}-{target}"] = str(start)
    return pairs


def find_start(
    source: Language, target: Language, seeds: Sequence[Seed], fit: PairFit, random_seed: int = 0
) -> Start:
    """Return the pairs of the first seed that is confirmed, else of the best one.

    Parameters
    ----------
    fit
        The method's own maps for some pairs.
    """
    best: Start | None = None
    for seed in seeds:
        with progress.task(f"Seed {seed.name}"):
            pairs = seed.pairs(source, target)
            if not len(pairs):
                continue
            start = _grown(seed, pairs, source, target, fit, random_seed)
        if start.is_confirmed:
            return start
        if best is None or start.agreement > best.agreement:
            best = start
    if best is None:
        raise UnsupervisedError(
            f"The seeds {', '.join(seed.name for seed in seeds)} find no pair of words. Try "
            "gromov_wasserstein, which needs no common spelling, or give a dictionary of a hundred "
            "pairs to a mapper such as geomm_plus."
        )
    return best


def _grown(
    seed: Seed, pairs: RowPairs, source: Language, target: Language, fit: PairFit, random_seed: int
) -> Start:
    """Grow a seed's pairs, as far as needed until they are confirmed."""
    x, z = source.frequent(WITH_LETTERS.words), target.frequent(WITH_LETTERS.words)
    raised = seed.raised(source, target)
    start = Start(seed.name, len(pairs), pairs, 0.0, False)
    if not seed.by_spelling:
        rotate = rotation(source.vectors, target.vectors)
        start = _judged(start, grow(x, z, pairs, rotate, ROTATIONS), source, target, random_seed)
    if not start.is_confirmed and len(start.pairs):
        growth = grow(x, z, start.pairs, fit, OWN_MAPS, raised)
        if raised is not None and len(growth.pairs):
            growth = grow(x, z, growth.pairs, fit, WITH_LETTERS, raised)
        start = _judged(start, growth, source, target, random_seed)
    return start


def _judged(
    start: Start, growth: Growth, source: Language, target: Language, random_seed: int
) -> Start:
    """Return the pairs that the start has grown into, and whether they are confirmed."""
    x, z = source.frequent(LOOKED_AT_WORDS), target.frequent(LOOKED_AT_WORDS)
    share = agreement_of_pairs(x, z, growth.pairs.source, growth.pairs.target, random_seed)
    needed = needed_agreement(growth.source, growth.target)
    cognates = cognate_precision(source, target, growth.source, growth.target)
    verdict = judge(Evidence(share, needed, cognates))
    return replace(start, pairs=growth.pairs, agreement=share, is_confirmed=verdict.is_confirmed)

"""[fit] Learning without a dictionary: seeds in turn, until one is confirmed.

    seed pairs -> rotations among 2,000 words -> the method's own maps among 4,000 words

Each stage is rounds of fitting and pairing up in which nothing given is kept: most pairs of a seed
are wrong. A stage ends when the mean CSLS has not risen for some rounds. The first seed whose maps
are confirmed (`confirmation`) is taken, else the one whose pairs agree most. Pairs by spelling are
spread over the whole vocabulary and skip the rotations; they are noisy, so that the spelling bonus
is kept for more rounds, also among 10,000 words, before the method goes on by vectors alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, UnsupervisedError
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import FitReport, PairCounts
from geomm_plugin.fitting.confirmation import (
    LOOKED_AT_WORDS,
    MIN_AGREEMENT_OF_ROTATIONS,
    agreement_of_pairs,
    cognate_precision,
    doubt,
    needed_agreement,
    split_half_agreement,
)
from geomm_plugin.fitting.induction import Paired, Plateau, rounds, sure_pairs
from geomm_plugin.fitting.moments import cross
from geomm_plugin.fitting.seeds import Seed, as_seed
from geomm_plugin.fitting.seeds.seed import frequent, unit_images
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.retrieval import PairBonus, mutual_neighbors
from geomm_plugin.rows import Rows

MIN_CSLS_GAIN = 5e-3  # of the best mean CSLS so far, relative; a smaller rise counts as none

# From pairs to the maps of both languages.
PairFit: TypeAlias = Callable[[RowPairs], tuple[Matrix, Matrix]]


class UnsupervisedMapper(LinearMapper):
    """A mapper that can begin with seeds, and then refuses maps that found no translations."""

    hub: str | None = None
    seeds: tuple[str, ...]  # in turn, until one is confirmed
    seed: int  # of what is random in a seed
    on_failure: Literal["error", "warn"]  # where no translations were found
    by_rotation: ClassVar[bool] = False  # pairs were found by rotations, whatever the last maps are

    def learn_alone(
        self, words: Mapping[str, Sequence[str]], vectors: Vectors, report: FitReport
    ) -> dict[str, Matrix]:
        """Learn from the pairs that the seeds find between each language and the hub."""
        languages = {name: Embeddings(words[name], vectors[name]) for name in vectors}
        pairs: dict[LanguagePair, RowPairs] = {}
        for edge in hub_edges(languages, self.hub):
            fit = self.own_maps({name: vectors[name] for name in edge})
            source, target = (languages[name] for name in edge)
            pairs[edge], report.seeds["-".join(edge)] = self.seed_pairs(source, target, fit)
        report.pairs = {"-".join(edge): PairCounts(0, {}) for edge in pairs}
        maps = self.learn(vectors, pairs, report)
        edges = self.confirmed_edges(pairs)
        self.report_agreement(vectors, maps, edges, report)
        self.confirm(languages, maps, edges, report)
        return maps

    def seed_pairs(
        self, source: Embeddings, target: Embeddings, fit: PairFit
    ) -> tuple[RowPairs, str]:
        """Return pairs of two languages to begin with, and what they come from."""
        return find_start(source, target, self.starts(), fit, self.seed)

    def starts(self) -> list[Seed]:
        """Return the seeds, to be tried in turn."""
        return [as_seed(choice, seed=self.seed) for choice in self.seeds]

    def own_maps(self, vectors: Vectors) -> PairFit:
        """Return what fits the maps of two languages to some pairs; by default a rotation."""
        return rotation(*vectors.values())

    def confirmed_edges(self, pairs: Pairs) -> list[LanguagePair]:
        """Return the pairs of languages whose maps must be confirmed: by default with the hub."""
        return list(pairs)

    def report_agreement(
        self,
        vectors: Vectors,
        maps: Mapping[str, Matrix],
        edges: Iterable[LanguagePair],
        report: FitReport,
    ) -> None:
        """Write down how far the pairs of some languages' maps confirm each other."""
        for s, t in edges:
            agreement = split_half_agreement(vectors[s], vectors[t], maps[s], maps[t], self.seed)
            report.recover[f"{s}-{t}"] = agreement

    def confirm(
        self,
        languages: Mapping[str, Embeddings],
        maps: Mapping[str, Matrix],
        edges: Iterable[LanguagePair],
        report: FitReport,
    ) -> None:
        """Refuse (or warn of) maps that found no translations; their agreement is in the report."""
        failed = []
        for source, target in edges:
            edge, both = f"{source}-{target}", (maps[source], maps[target])
            cognates = cognate_precision(languages[source], languages[target], *both)
            if cognates is not None:
                report.witnessed[edge] = cognates
            needed = MIN_AGREEMENT_OF_ROTATIONS if self.by_rotation else needed_agreement(*both)
            if reason := doubt(report.recover[edge], needed, cognates):
                failed.append(f"{edge}: {reason}")
        if failed:
            message = (
                f"{self.name} found no translations without a dictionary ({'; '.join(failed)}). "
                "Ways out: start from similar spelling (seeds=cognates or seeds=identical), or "
                "give a dictionary of a hundred pairs to geomm_plus; on_failure='warn' goes on."
            )
            if self.on_failure == "error":
                raise UnsupervisedError(message)
            warnings.warn(message, stacklevel=2)


class Stage(NamedTuple):
    """Rounds among the most frequent words, until nothing is gained."""

    words: int
    max_rounds: int
    patience: int


ROTATIONS = Stage(words=2000, max_rounds=20, patience=3)
OWN_MAPS = Stage(words=4000, max_rounds=40, patience=6)
WITH_LETTERS = Stage(words=10_000, max_rounds=8, patience=3)


class Growth(NamedTuple):
    """The last maps of a stage, and the mutual pairs that they find."""

    source: Matrix
    target: Matrix
    pairs: RowPairs


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
        lambda maps: sure_pairs(
            *mutual_neighbors(unit_images(x, maps[0]), unit_images(z, maps[1]), bonus=inside)
        ),
    )
    for last in islice(walk, stage.max_rounds):
        if not len(last.found.pairs) or plateau.is_reached(last.found.mean_csls):
            break
    return Growth(*last.maps, last.found.pairs)


def rotation(x: Matrix | Rows, z: Matrix | Rows) -> PairFit:
    """Return what fits a rotation of the source onto the target to weighted pairs."""

    def fit(pairs: RowPairs) -> tuple[Matrix, Matrix]:
        return polar(cross(x, z, pairs)), np.eye(z.shape[1])

    return fit


def hub_edges(languages: Mapping[str, Embeddings], hub: str | None = None) -> list[LanguagePair]:
    """Return (language, hub) for all languages but the hub: by default that with the most words."""
    if hub is not None and hub not in languages:
        raise LanguagesError(
            f"The hub {hub!r} is none of the languages ({', '.join(languages)}). Name one."
        )
    chosen = min(languages, key=lambda n: (-len(languages[n]), n)) if hub is None else hub
    return [(language, chosen) for language in sorted(languages) if language != chosen]


class Start(NamedTuple):
    """The pairs that a seed grew into, and how far they agree with each other."""

    pairs: RowPairs
    agreement: float
    is_confirmed: bool


def find_start(
    source: Embeddings,
    target: Embeddings,
    seeds: Sequence[Seed],
    fit: PairFit,
    random_seed: int = 0,
) -> tuple[RowPairs, str]:
    """Return the pairs of the first seed that is confirmed, else of the best one; and its name.

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
        if best is None or start.is_confirmed or start.agreement > best.agreement:
            best, note = start, f"{seed.name}: {len(pairs)} pairs"
        if start.is_confirmed:
            break
    if best is None:
        raise UnsupervisedError(
            f"The seeds {', '.join(seed.name for seed in seeds)} find no pair of words. Try "
            "gromov_wasserstein, which needs no common spelling, or give a dictionary of a hundred "
            "pairs to a mapper such as geomm_plus."
        )
    return best.pairs, note


def _grown(
    seed: Seed,
    pairs: RowPairs,
    source: Embeddings,
    target: Embeddings,
    fit: PairFit,
    random_seed: int,
) -> Start:
    """Grow a seed's pairs, as far as needed until they are confirmed."""
    x, z = (frequent(each, WITH_LETTERS.words) for each in (source, target))

    def judged(growth: Growth) -> Start:
        own_maps, found = growth[:2], growth.pairs
        few_x, few_z = x[:LOOKED_AT_WORDS], z[:LOOKED_AT_WORDS]
        share = agreement_of_pairs(few_x, few_z, found.source, found.target, random_seed)
        cognates = cognate_precision(source, target, *own_maps)
        return Start(found, share, not doubt(share, needed_agreement(*own_maps), cognates))

    start = Start(pairs, 0.0, False)
    if not seed.by_spelling:
        start = judged(grow(x, z, pairs, rotation(source.rows, target.rows), ROTATIONS))
    if start.is_confirmed or not len(start.pairs):
        return start
    raised = seed.raised(source, target)
    growth = grow(x, z, start.pairs, fit, OWN_MAPS, raised)
    if raised is not None and len(growth.pairs):
        growth = grow(x, z, growth.pairs, fit, WITH_LETTERS, raised)
    return judged(growth)

"""[fit] Self-learning: translate frequent words, take what is found as a dictionary, fit again.

    maps_0 = fit(dictionary),   induced_r = induce(maps_r),   maps_r+1 = fit(dictionary + induced_r)

Pairs are induced among the most frequent words of each language (see `induction`). When the loop
ends, and which maps are kept, is told in `loop`.

Without a dictionary, `seeds` find pairs to begin with, which count as induced: every round drops
what the one before had induced. `recover` then tells whether the maps found translations at all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import ALL_DICTIONARIES, Choice, FitReport
from geomm_plugin.fitting.confirmed_mapper import ConfirmedMapper
from geomm_plugin.fitting.cross_fit import MOST_FOLDS, CrossFit, divide
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.fitting.induction import Induction
from geomm_plugin.fitting.loop import Loop
from geomm_plugin.fitting.recover import recover
from geomm_plugin.fitting.rounds import Rounds
from geomm_plugin.fitting.seeds import Language, Seed, as_seed
from geomm_plugin.fitting.start import find_start, hub_edges
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast, Within


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearner(ConfirmedMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    induction: Induction = "mutual"  # how pairs are found; "union" is the paper's
    vocabulary: Annotated[int, AtLeast(1)] = 25_000  # most frequent words to find pairs among
    max_rounds: Annotated[int, AtLeast(0)] = 60
    held_out: Annotated[float, Within(0, 0.5)] = 0.2  # part of the dictionary in each fold; 0: none
    seed: Annotated[int, AtLeast(0)] = 0  # of the folds
    seeds: tuple[str, ...] = ()  # in turn, instead of a dictionary: gromov_wasserstein, ...
    on_failure: Literal["error", "warn"] = "error"  # where seeds led to no translations

    @property
    def needs_dictionary(self) -> bool:
        """Seeds take the place of dictionaries."""
        return not self.seeds

    def supervised_counterpart(self) -> str:
        """Name the mapper that takes a dictionary."""
        return f"{self.name} without seeds"

    @abstractmethod
    def learner(
        self, vectors: Vectors, pairs: Pairs, held_out: Pairs, induced: bool
    ) -> LinearMapper:
        """Return the mapper that is to fit these pairs.

        Parameters
        ----------
        held_out
            Pairs to choose parameters by; empty where there are none to spare.
        induced
            Whether induced pairs are among the pairs, or they are the plain dictionary.
        """

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Run the loop and keep its best maps; tell how far induced ones are confirmed."""
        pairs = self._used(vectors, pairs)
        maps = self._best_maps(vectors, pairs, report)
        if report.kept_round or not self.needs_dictionary:
            report.recover = {
                "-".join(edge): recover(vectors, maps, edge, self.seed) for edge in pairs
            }
        return maps

    def starts(self) -> list[Seed]:
        """Return the seeds, to be tried in turn."""
        return [as_seed(choice, seed=self.seed) for choice in self.seeds]

    def seed_pairs(
        self, words: Mapping[str, Sequence[str]], vectors: Vectors, report: FitReport
    ) -> Pairs:
        """Return what the seeds find between each language and the hub."""
        seeds = self.starts()
        languages = {name: Language(words[name], vectors[name]) for name in vectors}
        pairs: dict[LanguagePair, RowPairs] = {}
        for edge in hub_edges(languages, getattr(self, "hub", None)):
            both = {name: vectors[name] for name in edge}

            def fit(
                some: RowPairs, edge: LanguagePair = edge, both: Vectors = both
            ) -> tuple[Matrix, Matrix]:
                mapper = self.learner(both, {edge: some}, {}, True)
                maps = mapper.learn(both, {edge: some}, FitReport())
                return maps[edge[0]], maps[edge[1]]

            start = find_start(languages[edge[0]], languages[edge[1]], seeds, fit, self.seed)
            pairs[edge] = start.pairs
            report.seeds["-".join(edge)] = f"{start.seed}: {start.seed_pairs} pairs"
        return pairs

    def _best_maps(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        folds = divide(pairs, self.held_out, self.seed, 1 if self.joint else MOST_FOLDS)
        cross_fit = CrossFit(vectors, folds) if folds and self.max_rounds else None
        fits = Rounds(self.learner, vectors, pairs, self.induction, cross_fit)
        with progress.task("Self-learning", total=self.max_rounds) as advance:
            loop = Loop(
                fits, self.max_rounds, lambda mean: advance(1, note=f"mean CSLS {mean:.4f}")
            )
            largest = max(len(vectors[language]) for edge in pairs for language in edge)
            loop.run(min(self.vocabulary, largest))
        report.kept_round = loop.kept
        report.rounds = [each.told for each in loop.rounds] if self.max_rounds else []
        best = loop.rounds[loop.kept]
        report.adopt(best.report)
        if loop.kept and best.told.regularization is not None:
            report.regularization.setdefault(ALL_DICTIONARIES, Choice(best.told.regularization, {}))
        return best.maps

    def _used(self, vectors: Vectors, pairs: Pairs) -> Pairs:
        """Leave out dictionaries that the method would not look at."""
        first = self.learner(vectors, pairs, {}, False)
        if not isinstance(first, HubMapper):
            return pairs
        return used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)

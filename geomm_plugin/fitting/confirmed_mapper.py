"""[fit] What mappers share that may learn without a dictionary: their maps must be confirmed.

    for (K, L) in the edges:   recover(K, L) and witnessed(K, L) large enough

How large is told in `confirmation`; the edges are by default each language with the hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Literal

from geomm_plugin.arrays import Matrix
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.confirmation import confirm
from geomm_plugin.fitting.seeds import Language
from geomm_plugin.fitting.start import hub_edges
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Vectors


class ConfirmedMapper(LinearMapper):
    """A mapper that, where it had no dictionary, refuses maps that found no translations."""

    on_failure: Literal["error", "warn"]
    by_rotation: ClassVar[bool] = False  # pairs were found by rotations, whatever the last maps are

    def confirmed_edges(self, languages: Mapping[str, Language]) -> Iterable[LanguagePair]:
        """Return the pairs of languages whose maps must be confirmed."""
        return hub_edges(languages, getattr(self, "hub", None))

    def confirm(
        self,
        words: Mapping[str, Sequence[str]],
        vectors: Vectors,
        maps: Mapping[str, Matrix],
        report: FitReport,
    ) -> None:
        """Refuse (or warn of) maps that found no translations, as far as can be told."""
        languages = {name: Language(words[name], vectors[name]) for name in vectors}
        edges = self.confirmed_edges(languages)
        confirm(self.name, languages, maps, edges, report, self.on_failure, self.by_rotation)

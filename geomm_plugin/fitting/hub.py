"""Methods for two languages, and many languages through a hub.

W(L, hub) = W_1 W_2 ... along the dictionaries from L to the hub;   A_hub = I,   A_L = W(L, hub)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import LanguagesError
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.latent import Inference, join_maps
from geomm_plugin.language_graph import LanguagePair, choose_hub, spanning_tree
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors


@dataclass(kw_only=True, eq=False, repr=False)
class HubMapper(LinearMapper):
    """A method for two languages: write learn_pair(); many languages are given, through a hub.

    Each language is mapped along its dictionaries to the hub, W = W_1 W_2 ... (composition); the
    shared space is the hub's own (A_hub = I, A_L = W_L) unless `space` says otherwise.
    """

    hub: str | None = None  # by default the language with the most dictionaries; of two, the target

    def learn_pair(self, x: Matrix, z: Matrix) -> Matrix:
        """Return W that maps x to z, from paired rows."""
        raise NotImplementedError(f"{type(self).__name__} must define learn_pair or learn_edge.")

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return W that maps the edge's source to its target; by default from its paired rows."""
        return self.learn_pair(*edge.paired_rows())

    @property
    def space(self) -> Inference:
        """Where words are compared."""
        return "target"

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Learn one map for each language on the way to the hub, and compose them."""
        hub, edges = self.edges_to_hub(vectors, pairs, report)
        maps: dict[str, Matrix] = {}
        for edge in edges:
            step = self.learn_edge(edge, report)
            maps[edge.source] = step @ maps[edge.target] if edge.target in maps else step
        return join_maps(self.space, hub, vectors[hub].shape[1], maps)

    def two_maps(self, W: Matrix) -> tuple[Matrix, Matrix]:
        """Return A of the source and of the target, for one W."""
        maps = join_maps(self.space, "target", W.shape[1], {"source": W})
        return maps["source"], maps["target"]

    def edges_to_hub(
        self, vectors: Vectors, pairs: Pairs, report: FitReport
    ) -> tuple[str, list[Edge]]:
        """Return the hub, and each other language's edge towards it, nearest to the hub first."""
        hub, tree = self.tree_to_hub(vectors, pairs)
        edges = []
        for language, parent in tree:
            is_there = (language, parent) in pairs
            own = pairs[language, parent] if is_there else pairs[parent, language].reverse()
            edges.append(Edge(language, parent, vectors[language], vectors[parent], own))
        used_pairs(self.name, hub, tree, pairs)
        report.hub = hub
        return hub, edges

    def tree_to_hub(self, languages: Iterable[str], pairs: Pairs) -> tuple[str, list[LanguagePair]]:
        """Return the hub, and (language, the next one on its way there) for all others."""
        hub = choose_hub(pairs) if self.hub is None else self.hub
        if hub not in languages:
            raise LanguagesError(
                f"The hub {hub!r} is none of the languages ({', '.join(languages)}). Name one."
            )
        return hub, spanning_tree(pairs, hub)


def used_pairs(name: str, hub: str, tree: list[LanguagePair], pairs: Pairs) -> Pairs:
    """Return the dictionaries on the way to a hub; a warning names the others."""
    ways = {frozenset(edge) for edge in tree}
    used = {edge: pairs[edge] for edge in pairs if frozenset(edge) in ways}
    unused = ["-".join(edge) for edge in pairs if edge not in used]
    if unused:
        warnings.warn(
            f"{name} maps each language to the hub {hub!r} and does not use the dictionaries "
            f"{', '.join(unused)}. Choose another hub, or a joint method such as geomm_multi.",
            stacklevel=5,
        )
    return used

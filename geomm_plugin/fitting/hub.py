"""[fit] Methods for two languages, and many languages through a hub; methods around another one.

In the hub's own space (A_hub = I), maps are composed along the dictionaries from L to the hub:
A_L = W_1 W_2 ... Where a dictionary e from L towards the hub has two maps, A_L^e and A_P^e (P its
next language, Z the vectors of P's words in the dictionary), the hub has the mean of the metrics
that its dictionaries found, each scaled to one trace, and each space is turned, never stretched
(docs, "A third language"), to where P already is; one dictionary alone keeps what it found:

    A_hub A_hub' = mean over the hub's dictionaries of A_hub^e A_hub^e'
    A_L = c A_L^e R,     min over c and rotations R of ||Z (c A_P^e R - A_P)||^2
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.factorization import eigh, svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.latent import Inference, two_maps
from geomm_plugin.fitting.moments import Moments, gram
from geomm_plugin.language_graph import LanguagePair, choose_hub, spanning_tree
from geomm_plugin.mapper import LinearMapper, Mapper, Pairs, Vectors
from geomm_plugin.registry import as_mapper
from geomm_plugin.rows import Rows

RELATIVE_RANK_TOLERANCE = 1e-10  # least weight of a direction, as a part of the heaviest


@dataclass(frozen=True)
class Edge:
    """One dictionary of a fit: two languages, their normalized vectors, and pairs of their rows."""

    source: str
    target: str
    x: Rows
    z: Rows
    pairs: RowPairs

    def moments(self) -> Moments:
        """Return the d x d matrices of the loss over unique words."""
        return Moments.of(self.x, self.z, self.pairs)

    def paired_rows(self) -> tuple[Matrix, Matrix]:
        """Return the vectors of both sides, one row per pair."""
        return self.x[self.pairs.source], self.z[self.pairs.target]

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


def edges_of(vectors: Vectors, pairs: Pairs) -> list[Edge]:
    """Return an edge for each dictionary."""
    return [Edge(s, t, vectors[s], vectors[t], own) for (s, t), own in pairs.items()]


@dataclass(kw_only=True, eq=False, repr=False)
class HubMapper(LinearMapper):
    """A method for two languages: write learn_pair(); many languages are given, through a hub.

    The shared space is the hub's own (A_hub = I, A_L = W_1 W_2 ...) unless `space` says otherwise:
    methods with two maps a dictionary write learn_sides(), and `space` is "latent".
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

    def learn_sides(self, edge: Edge, report: FitReport) -> tuple[Matrix, Matrix]:
        """Return the maps of the edge's source and target, into one space; by default from W."""
        return self.two_maps(self.learn_edge(edge, report))

    @property
    def width(self) -> int | None:
        """The most dimensions that the space of many languages may have, if there is a limit."""
        return None

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Learn from each dictionary on the way to the hub; join what was learnt in one space."""
        hub, edges = self.edges_to_hub(vectors, pairs, report)
        if self.space == "latent":
            sides = [self.learn_sides(edge, report) for edge in edges]
            return joined_sides(hub, edges, sides, self.width)
        maps: dict[str, Matrix] = {}
        for edge in edges:
            step = self.learn_edge(edge, report)
            maps[edge.source] = step @ maps[edge.target] if edge.target in maps else step
        return {hub: np.eye(vectors[hub].shape[1]), **maps}

    def two_maps(self, W: Matrix) -> tuple[Matrix, Matrix]:
        """Return A of the source and of the target, for one W."""
        return two_maps(self.space, W)

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


def joined_sides(
    hub: str, edges: Sequence[Edge], sides: Sequence[tuple[Matrix, Matrix]], width: int | None
) -> dict[str, Matrix]:
    """Return one map of each language, from two maps of each dictionary."""
    both = list(zip(edges, sides, strict=True))
    if len(edges) == 1:
        return dict(zip((edges[0].source, hub), sides[0], strict=True))
    metric = mean_metric([side for edge, (_, side) in both if edge.target == hub])
    joined = {hub: metric[:, :width]}
    for edge, (source, target) in both:
        variance = gram(edge.z, edge.pairs.target)
        joined[edge.source] = source @ turn(target, joined[edge.target], variance)
    return joined


def turn(start: Matrix, goal: Matrix, variance: Matrix) -> Matrix:
    """Return c R, with rotation R, that takes Z start nearest to Z goal; variance is Z'Z.

    start' Z'Z goal = P diag(s) Q' (SVD):   R = P Q',   c = sum(s) / ||Z start||^2
    """
    p, s, q = svd(start.T @ variance @ goal)
    length = float(np.vdot(start, variance @ start))
    scale = float(s.sum()) / length if length > 0 else 1.0
    rotation: Matrix = scale * (p @ q.T)
    return rotation


def mean_metric(maps: list[Matrix]) -> Matrix:
    """Return A with A A' = mean of A_e A_e', each scaled to trace 1; its heaviest columns first."""
    total = np.zeros((len(maps[0]), len(maps[0])))
    for matrix in maps:
        weight = float(np.vdot(matrix, matrix))
        total += matrix @ matrix.T / (weight if weight > 0 else 1)
    values, basis = eigh(total / len(maps))
    kept = np.flatnonzero(values > values.max(initial=0) * RELATIVE_RANK_TOLERANCE)[::-1]
    if not len(kept):
        raise LanguagesError(
            "The dictionaries leave no direction to map along: every map of the hub is zero. "
            "Check that their words have vectors that are not zero, and give more pairs."
        )
    root: Matrix = basis[:, kept] * np.sqrt(values[kept])
    return root


@dataclass(kw_only=True, eq=False, repr=False)
class Wrapper(LinearMapper):
    """Write learn(), with inner() at hand; normalization and `joint` are those of that mapper."""

    normalize: tuple[str, ...] | None = None  # by default the steps of the mapper inside
    mapper: str | Mapper = "procrustes"  # a linear one, e.g. geomm or geomm:regularization=100

    @property
    def joint(self) -> bool:
        """Whether the mapper inside learns many languages at once."""
        return self.inner().joint

    def own_steps(self) -> tuple[str, ...]:
        """Return the steps of the mapper inside."""
        return self.inner().steps()

    def inner(self) -> LinearMapper:
        """Return the mapper inside; it must be linear, to learn from pairs of rows."""
        mapper = as_mapper(self.mapper)
        if not isinstance(mapper, LinearMapper):
            raise ParameterError(
                f"{self.name}: mapper={self.mapper!r} is not possible; it must be a linear mapper, "
                "such as 'procrustes', 'geomm' or 'msf'."
            )
        return mapper

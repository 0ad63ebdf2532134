"""[fit/map] The interface of every mapper, and what linear and pairwise ones share.

Every linear method ends as one matrix A_L per language, into one shared space, after that
language's own normalization. So transform, W, map, save and load are written once, here:

    map_L(x) = normalize_L(x) A_L        W(s, t) = A_s A_t'        x W(s, t) z' = map(x) . map(z)
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from geomm_plugin.dictionary import Dictionaries, RowPairs, pair_languages
from geomm_plugin.embeddings import (
    BLOCK_ROWS,
    Embeddings,
    Matrix,
    Vector,
    as_embeddings,
    as_numbers,
)
from geomm_plugin.errors import (
    FormatError,
    LanguagesError,
    NotFittedError,
    UnknownNameError,
    did_you_mean,
)
from geomm_plugin.factorization import eigh, few_threads, svd
from geomm_plugin.language_graph import check_connected, choose_hub, spanning_tree
from geomm_plugin.moments import Moments
from geomm_plugin.normalize import NormalizedVectors, Normalizer
from geomm_plugin.parameters import check_known, check_parameters, parameters_of
from geomm_plugin.shared_space import MappedEmbeddings, SharedSpace

TIME = "cpu seconds"  # in a mapper's report; told, but not saved, so that equal fits save equally


class Mapper(ABC):
    """Maps the words of several languages into one space; write fit, transform, state and restore.

    The constructor takes parameters by keyword, stores them under their names, and nothing else.
    `transform` maps each row by itself: the answer for a row does not depend on the other rows.
    """

    name: ClassVar[str]
    joint: ClassVar[bool] = False  # whether it learns many languages at once, not pair by pair

    @abstractmethod
    def fit(self, embeddings: Mapping[str, object], dictionaries: Dictionaries) -> Self:
        """Learn from embeddings by language and dictionaries by pair of languages."""

    @abstractmethod
    def transform(self, language: str, vectors: Matrix) -> Matrix:
        """Map vectors of a language, one per row; words that fit never saw are welcome."""

    @abstractmethod
    def state(self) -> dict[str, Matrix]:
        """Return what fit learnt, as named arrays."""

    @abstractmethod
    def restore(self, state: Mapping[str, Matrix]) -> None:
        """Take back what state() gave."""

    def map(self, embeddings: Mapping[str, object]) -> SharedSpace:
        """Map whole vocabularies; vectors are mapped when they are asked for, block by block."""
        return SharedSpace(
            {
                language: MappedEmbeddings(as_embeddings(value), partial(self.transform, language))
                for language, value in embeddings.items()
            }
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn does."""
        return {name: getattr(self, name) for name in parameters_of(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = parameters_of(type(self))
        for name, value in params.items():
            check_known(self.name, name, known)
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {name: known.default for name, known in parameters_of(type(self)).items()}
        changed = {n: v for n, v in self.get_params().items() if v != defaults[n]}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in changed.items())})"


@dataclass(kw_only=True, eq=False, repr=False)
class LinearMapper(Mapper):
    """One matrix per language: write learn(); fit, transform, W, state and restore are given.

    What fit learns: `matrices_` (language -> A), `normalizer_`, and `report_`, a JSON-like dict
    that tells how it went (pairs used, choices made) and is saved with the mapper.
    """

    normalize: tuple[str, ...] = ("unit", "center")  # steps before the map, from left to right

    @abstractmethod
    def learn(
        self, vectors: Mapping[str, NormalizedVectors], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> dict[str, Matrix]:
        """Return A for each language, from normalized vectors and pairs of their rows."""

    def steps(self) -> tuple[str, ...]:
        """Return the steps of the normalization."""
        return self.normalize

    def fit(self, embeddings: Mapping[str, object], dictionaries: Dictionaries) -> Self:
        """Learn from embeddings by language and dictionaries by pair of languages.

        Parameters
        ----------
        embeddings
            {"en": ..., "es": ...}: Embeddings, gensim KeyedVectors, or whatever a plugin converts.
        dictionaries
            {("en", "es"): [("dog", "perro"), ...], ...}; together they must link all languages.
        """
        check_parameters(self)
        languages = {name: as_embeddings(embeddings[name]) for name in sorted(embeddings)}
        pairs = pair_languages(languages, dictionaries)
        check_connected(languages, pairs)
        for language, value in languages.items():
            _check_finite(language, value)
        with np.errstate(all="ignore"):  # what is not finite is found by looking, below and there
            normalizer = Normalizer(self.steps()).fit({n: v.vectors for n, v in languages.items()})
        self.report_: dict[str, Any] = {
            "pairs": {
                f"{source}-{target}": {
                    "pairs": len(found),
                    f"missing in {source}": len(found.missing_source),
                    f"missing in {target}": len(found.missing_target),
                }
                for (source, target), found in pairs.items()
            }
        }
        vectors = {n: normalizer.view(n, v.vectors) for n, v in languages.items()}
        with few_threads(), np.errstate(all="ignore"):
            matrices = self._learn_or_say_why_not(vectors, pairs)
        if matrices.keys() != languages.keys():
            raise LanguagesError(
                f"{self.name} must learn a matrix for each of {', '.join(languages)}; it learnt "
                f"{', '.join(matrices) or 'none'}. Mend its learn()."
            )
        for language, matrix in matrices.items():
            if not np.isfinite(matrix).all():
                raise LanguagesError(
                    f"{self.name} found no finite map for {language}; its vectors may be zero or "
                    "of extreme size, or the dictionary too small. Look at both; regularize more."
                )
        self.normalizer_ = normalizer
        # Each its own array, laid out as a loaded one is: BLAS rounds other layouts differently.
        self.matrices_: dict[str, Matrix] = {
            name: np.array(matrices[name], np.float64, order="C") for name in languages
        }
        return self

    def _learn_or_say_why_not(
        self, vectors: Mapping[str, NormalizedVectors], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> dict[str, Matrix]:
        try:
            return self.learn(vectors, pairs)
        except np.linalg.LinAlgError as error:
            raise LanguagesError(
                f"{self.name} found no map: {error}. The vectors may be of extreme size, or the "
                "dictionary too small. Look at both; regularize more."
            ) from error

    def transform(self, language: str, vectors: Matrix) -> Matrix:
        """Map vectors of a language, one per row (or a single vector), without changing lengths."""
        matrix = self._matrix(language)
        rows = np.atleast_2d(as_numbers(vectors))
        if rows.ndim != 2:
            raise LanguagesError(
                f"Vectors are mapped one by one or as the rows of a table; these have the shape "
                f"{rows.shape}."
            )
        if rows.shape[1] != len(matrix):
            raise LanguagesError(
                f"The vectors of {language} had {len(matrix)} dimensions in fit; "
                f"these have {rows.shape[1]}."
            )
        kind = np.result_type(rows.dtype, np.float32)
        mapped = np.empty((len(rows), matrix.shape[1]), kind)
        with np.errstate(all="ignore"):
            matrix = matrix.astype(kind)
            for start in range(0, len(rows), BLOCK_ROWS):
                block = rows[start : start + BLOCK_ROWS]
                part = mapped[start : start + BLOCK_ROWS]
                part[:] = self.normalizer_.transform(language, block) @ matrix
                if not np.isfinite(part).all() and np.isfinite(block).all():
                    raise LanguagesError(
                        f"Mapped vectors of {language} are too large for {kind}. Scale the vectors "
                        "down, give them in float64, or normalize them by 'unit' first."
                    )
        return mapped if np.ndim(vectors) == 2 else mapped[0]

    def W(self, source: str, target: str) -> Matrix:
        """Return the d x d matrix with x W z' = map(x) . map(z), for normalized x and z."""
        product: Matrix = self._matrix(source) @ self._matrix(target).T
        return product

    def state(self) -> dict[str, Matrix]:
        """Return the matrices and what the normalizer learnt, as named arrays."""
        self._check_fitted()
        learnt = {f"normalizer/{n}": array for n, array in self.normalizer_.state().items()}
        return {f"matrix/{n}": array for n, array in self.matrices_.items()} | learnt

    def restore(self, state: Mapping[str, Matrix]) -> None:
        """Take back what state() gave."""
        parts: dict[str, dict[str, Matrix]] = {"matrix": {}, "normalizer": {}}
        for name, array in state.items():
            part, _, rest = name.partition("/")
            if part not in parts or not rest:
                raise FormatError(f"A saved {self.name} mapper holds no array called {name!r}.")
            parts[part][rest] = array
        matrices = parts["matrix"]
        _check_matrices(matrices)
        normalizer = Normalizer(self.steps())
        dimensions = {language: len(matrix) for language, matrix in matrices.items()}
        normalizer.restore(dimensions, parts["normalizer"])
        self.matrices_, self.normalizer_, self.report_ = matrices, normalizer, {}

    def _matrix(self, language: str) -> Matrix:
        self._check_fitted()
        if language not in self.matrices_:
            raise UnknownNameError(
                f"This {self.name} mapper knows no language {language!r}."
                f"{did_you_mean(language, self.matrices_)} It knows: {', '.join(self.matrices_)}."
            )
        return self.matrices_[language]

    def _check_fitted(self) -> None:
        if not hasattr(self, "matrices_"):
            raise NotFittedError(f"This {self.name} mapper is not fitted; call fit() first.")


def _check_matrices(matrices: Mapping[str, Matrix]) -> None:
    """Make sure that there is a table of finite numbers a language, into one space."""
    if not matrices:
        raise FormatError("There is no matrix of any language.")
    for language, matrix in matrices.items():
        floating = np.issubdtype(matrix.dtype, np.floating)
        if matrix.ndim != 2 or not matrix.size or not floating:
            raise FormatError(
                f"The matrix of {language} must be a table of floating-point numbers; it has the "
                f"shape {matrix.shape} and the type {matrix.dtype}."
            )
        if not np.isfinite(matrix).all():
            raise FormatError(f"The matrix of {language} holds NaN or infinity.")
    columns = sorted({matrix.shape[1] for matrix in matrices.values()})
    if len(columns) > 1:
        raise FormatError(f"The matrices lead to spaces of different dimensions: {columns}.")


def _check_finite(language: str, embeddings: Embeddings) -> None:
    for number, block in enumerate(embeddings.blocks()):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = number * BLOCK_ROWS + int(np.argmin(finite))
            raise FormatError(
                f"The vector of {embeddings.words[row]!r} (row {row} of {language}) holds NaN or "
                "infinity. Leave the word out, or mend its vector."
            )


@dataclass(frozen=True)
class Edge:
    """One dictionary of a fit: two languages, their normalized vectors, and pairs of their rows."""

    source: str
    target: str
    x: NormalizedVectors
    z: NormalizedVectors
    pairs: RowPairs

    def moments(self) -> Moments:
        """Return the d x d matrices of the loss over unique words."""
        return Moments.of(self.x, self.z, self.pairs)

    def paired_rows(self) -> tuple[Matrix, Matrix]:
        """Return the vectors of both sides, one row per pair."""
        return self.x[self.pairs.source], self.z[self.pairs.target]

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


@dataclass(kw_only=True, eq=False, repr=False)
class HubMapper(LinearMapper):
    """A method for two languages: write learn_pair(); many languages are given, through a hub.

    Each language is mapped along its dictionaries to the hub, W = W_1 W_2 ... (composition); the
    shared space is the hub's own: A_hub = I, A_L = W_L.
    """

    hub: str | None = None  # by default the language with the most dictionaries; of two, the target

    def learn_pair(self, x: Matrix, z: Matrix) -> Matrix:
        """Return W that maps x to z, from paired rows."""
        raise NotImplementedError(f"{type(self).__name__} must define learn_pair or learn_edge.")

    def learn_edge(self, edge: Edge) -> Matrix:
        """Return W that maps the edge's source to its target; by default from its paired rows."""
        return self.learn_pair(*edge.paired_rows())

    def join(self, hub: str, dimension: int, maps: dict[str, Matrix]) -> dict[str, Matrix]:
        """Turn the maps into the hub's space into one A per language."""
        return {hub: np.eye(dimension), **maps}

    def learn(
        self, vectors: Mapping[str, NormalizedVectors], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> dict[str, Matrix]:
        """Learn one map for each language on the way to the hub, and compose them."""
        hub, edges = self.edges_to_hub(vectors, pairs)
        maps: dict[str, Matrix] = {}
        for edge in edges:
            step = self.learn_edge(edge)
            maps[edge.source] = step @ maps[edge.target] if edge.target in maps else step
        return self.join(hub, vectors[hub].shape[1], maps)

    def edges_to_hub(
        self, vectors: Mapping[str, NormalizedVectors], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> tuple[str, list[Edge]]:
        """Return the hub, and each other language's edge towards it, nearest to the hub first."""
        hub, tree = self.tree_to_hub(vectors, pairs)
        edges = []
        for language, parent in tree:
            found = (
                pairs[language, parent]
                if (language, parent) in pairs
                else pairs[parent, language].reverse()
            )
            edges.append(Edge(language, parent, vectors[language], vectors[parent], found))
        used_pairs(self.name, hub, tree, pairs)
        self.report_["hub"] = hub
        return hub, edges

    def tree_to_hub(
        self, languages: Iterable[str], pairs: Mapping[tuple[str, str], RowPairs]
    ) -> tuple[str, list[tuple[str, str]]]:
        """Return the hub, and (language, the next one on its way there) for all others."""
        hub = choose_hub(pairs) if self.hub is None else self.hub
        if hub not in languages:
            raise LanguagesError(
                f"The hub {hub!r} is none of the languages ({', '.join(languages)}). Name one."
            )
        return hub, spanning_tree(pairs, hub)


def used_pairs(
    name: str,
    hub: str,
    tree: list[tuple[str, str]],
    pairs: Mapping[tuple[str, str], RowPairs],
) -> dict[tuple[str, str], RowPairs]:
    """Return the dictionaries on the way to a hub; a warning names the others."""
    ways = {frozenset(edge) for edge in tree}
    used = {edge: found for edge, found in pairs.items() if frozenset(edge) in ways}
    unused = ["-".join(edge) for edge in pairs if edge not in used]
    if unused:
        warnings.warn(
            f"{name} maps each language to the hub {hub!r} and does not use the dictionaries "
            f"{', '.join(unused)}. Choose another hub, or a joint method such as geomm_multi.",
            stacklevel=5,
        )
    return used


def latent_maps(hub: str, maps: dict[str, Matrix]) -> dict[str, Matrix]:
    """Share the metric of the maps into a hub between both sides.

    For one map W = P diag(s) V' this is the paper's latent space: A_s = P diag(sqrt s) and
    A_hub = V diag(sqrt s). For several, the hub's metric is the mean of theirs (each scaled alike),

        B = mean of (W_L' W_L)^(1/2) = E diag(b) E'
        A_hub = E diag(sqrt b),     A_L = W_L E diag(1/sqrt b)

    so that W(L, hub) = W_L still holds exactly, and W(L, K) = W_L B^-1 W_K'.
    """
    metrics = {language: _root_of_square(matrix) for language, matrix in maps.items()}
    traces = {language: float(np.trace(metric)) for language, metric in metrics.items()}
    typical = float(np.mean(list(traces.values())))
    total = sum(
        (metrics[name] * (typical / traces[name] if traces[name] > 0 else 0) for name in maps),
        start=np.zeros_like(next(iter(metrics.values()))),
    )
    b, basis = eigh(total / len(maps))
    kept = np.flatnonzero(b > b.max(initial=0) * 1e-12)[::-1]  # the largest first
    if not len(kept):
        raise LanguagesError(
            "The dictionary leaves no direction to map along: every map is zero. Check that its "
            "words have vectors that are not zero, and give more pairs."
        )
    root: Vector = np.sqrt(b[kept])
    basis = basis[:, kept]
    joined: dict[str, Matrix] = {hub: basis * root}
    return joined | {name: (matrix @ basis) / root for name, matrix in maps.items()}


def _root_of_square(matrix: Matrix) -> Matrix:
    """Return (W'W)^(1/2)."""
    _, s, v = svd(matrix)
    root: Matrix = (v * s) @ v.T
    return root

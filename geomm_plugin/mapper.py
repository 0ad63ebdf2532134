"""[fit/map] The interface of every mapper, and what linear and pairwise ones share.

Every linear method ends as one matrix A_L per language, into one shared space, after that
language's own normalization. So transform, W, map, save and load are written once, here:

    map_L(x) = normalize_L(x) A_L        W(s, t) = A_s A_t'        x W(s, t) z' = map(x) . map(z)

The target t may also stay as it is, and s be moved into t's own coordinates by T, of W(s, t) and
the variances of both languages (`normalize.matrix_into`):

    x -> the inverse of normalize_t of (normalize_s(x) T, at t's mean length)
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, as_numbers, slices
from geomm_plugin.dictionary import Dictionaries, RowPairs, pair_languages
from geomm_plugin.embeddings import MIN_FREQUENCY_ORDER, Embeddings, as_embeddings, check_rows
from geomm_plugin.errors import (
    DictionaryError,
    FormatError,
    LanguagesError,
    NotFittedError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from geomm_plugin.factorization import FactorizationError, few_threads
from geomm_plugin.fit_report import FitReport, PairCounts, report_of
from geomm_plugin.language_graph import LanguagePair, check_connected
from geomm_plugin.normalize import Normalizer, matrix_into, unit
from geomm_plugin.registry.parameters import (
    changed_parameters,
    check_known,
    check_parameters,
    parameters_of,
)
from geomm_plugin.rows import RowFunction, Rows
from geomm_plugin.text import html_table, printable

if TYPE_CHECKING:
    from geomm_plugin.shared_space import SharedSpace

Vectors: TypeAlias = Mapping[str, Rows]  # by language, each row normalized when read
Pairs: TypeAlias = Mapping[LanguagePair, RowPairs]  # by dictionary


class Mapper(ABC):
    """Maps the words of several languages into one space; write fit, transform, state and restore.

    The constructor takes parameters by keyword, stores them under their names, and nothing else.
    `transform` maps each row by itself: the answer for a row does not depend on the other rows.
    """

    name: ClassVar[str]
    report_: FitReport  # how the last fit went
    # The weights that learn_reranking learnt for it.
    reranking_: Mapping[LanguagePair, Mapping[str, float]] = MappingProxyType({})

    @property
    def joint(self) -> bool:
        """Whether it learns many languages at once, not pair by pair."""
        return False

    @property
    def needs_dictionary(self) -> bool:
        """Whether it learns from dictionaries; others are fitted with none, `fit(..., {})`."""
        return True

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

    def map(self, embeddings: Mapping[str, object], into: str | None = None) -> SharedSpace:
        """Map whole vocabularies; vectors are mapped when they are asked for, block by block.

        Parameters
        ----------
        into
            A language that stays as it is, bit for bit: the others are moved into the coordinates
            of its vectors, as they are before any normalization. By default, all languages are
            mapped into the space that the mapper learnt, where translation is best; weights that
            were learnt for re-ranking belong to that one only.
        """
        from geomm_plugin.shared_space import SharedSpace  # a fit needs no retrieval

        languages = {name: as_embeddings(value) for name, value in embeddings.items()}
        if into is None:
            maps: dict[str, RowFunction] = {name: LanguageMap(self, name) for name in languages}
        else:
            maps = self.maps_into(into, languages)
        mapped = {n: value.map(maps[n]) if n in maps else value for n, value in languages.items()}
        return SharedSpace(mapped, self.reranking_ if into is None else {})

    def maps_into(
        self, target: str, embeddings: Mapping[str, Embeddings]
    ) -> dict[str, RowFunction]:
        """Return what moves each other language into the target's vectors as they are.

        A mapper that is not linear has no such maps, unless it makes its own.
        """
        raise ParameterError(
            f"{self.name} cannot move languages into the vectors of {target!r} as they are: it "
            "makes no linear map. Leave `into` out, or take a linear mapper, such as procrustes."
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

    def clone(self) -> Self:
        """Return an unfitted mapper with the same parameters."""
        return type(self)(**self.get_params())

    def _repr_html_(self) -> str:
        lines = {name: repr(value) for name, value in self.get_params().items()} | self.facts()
        return html_table(("parameter", "value"), lines.items(), type(self).__name__)

    def facts(self) -> dict[str, str]:
        """Return for people what a fit learnt from, chose and scored; nothing before a fit."""
        languages = ", ".join(sorted(getattr(self, "matrices_", ())))
        return ({"languages": languages} if languages else {}) | report_of(self).facts()

    def __str__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in changed_parameters(self).items())
        return f"{type(self).__name__}({changed})"

    def __repr__(self) -> str:
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts().items())
        return f"<{self}; {printable(facts)}>" if facts else str(self)


@dataclass(frozen=True)
class LanguageMap:
    """The map of one language: what `transform` does to its rows."""

    mapper: Mapper
    language: str

    def __call__(self, vectors: Matrix) -> Matrix:
        """Map rows of the language."""
        return self.mapper.transform(self.language, vectors)


@dataclass(frozen=True)
class IntoMap:
    """The map of one language into another's vectors as they are, by a matrix between the two."""

    normalizer: Normalizer
    source: str
    target: str
    matrix: Matrix  # between normalized rows
    lengths: Sequence[float]  # of the target's rows, before each step and after the last

    def __call__(self, vectors: Matrix) -> Matrix:
        """Move rows of the source."""
        with np.errstate(all="ignore"):
            rows = self.normalizer.transform(self.source, vectors)
            moved = unit(rows @ self.matrix.astype(rows.dtype)) * float(self.lengths[-1])
            moved = self.normalizer.inverse(self.target, moved, self.lengths)
        _refuse_overflow(self.source, vectors, moved)
        return moved


@dataclass(kw_only=True, eq=False, repr=False)
class LinearMapper(Mapper):
    """One matrix per language: write learn(); fit, transform, W, state and restore are given.

    What fit learns: `matrices_` (language -> A), `normalizer_`, and `report_`, a FitReport, which
    is saved with the mapper.
    """

    normalize: tuple[str, ...] | None = ("unit", "center")  # steps before the map; None: its own

    supervised: ClassVar[str] = "geomm_plus"  # the mapper to use where there is a dictionary

    @abstractmethod
    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return A for each language, from normalized vectors and pairs of their rows.

        How it went, as far as users want to know, is written to the report.
        """

    def steps(self) -> tuple[str, ...]:
        """Return the steps of the normalization: those given, or the method's own."""
        return self.own_steps() if self.normalize is None else self.normalize

    def own_steps(self) -> tuple[str, ...]:
        """Return the steps that the method takes by default."""
        own: tuple[str, ...] | None = parameters_of(type(self))["normalize"].default
        return own or ()

    def fit(self, embeddings: Mapping[str, object], dictionaries: Dictionaries) -> Self:
        """Learn from embeddings by language and dictionaries by pair of languages.

        Parameters
        ----------
        embeddings
            {"en": ..., "es": ...}: Embeddings, gensim KeyedVectors, or whatever a plugin converts.
        dictionaries
            {("en", "es"): [("dog", "perro"), ...], ...}; together they must link all languages.
            None, {}, for mappers that need no dictionary.
        """
        check_parameters(self)
        languages = {name: as_embeddings(embeddings[name]) for name in sorted(embeddings)}
        pairs = self._given_pairs(languages, dictionaries)
        for language, value in languages.items():
            check_rows(language, value)
        with np.errstate(all="ignore"):  # what is not finite is found by looking, below and there
            given = {n: _made_once(value) for n, value in languages.items()}
            normalizer = Normalizer(self.steps()).fit(given)
        report = FitReport(pairs={"-".join(edge): _counts(edge, pairs[edge]) for edge in pairs})
        vectors = {n: normalizer.view(n, rows) for n, rows in given.items()}
        start = time.process_time()
        with few_threads(), np.errstate(all="ignore"):
            matrices = self._learn_checked(languages, vectors, pairs, report)
        report.cpu_seconds = time.process_time() - start
        if matrices.keys() != languages.keys():
            raise LanguagesError(
                f"{self.name} must learn a matrix for each of {', '.join(languages)}; it learnt "
                f"{', '.join(matrices) or 'none'}. Fix its learn()."
            )
        for language, matrix in matrices.items():
            if not np.isfinite(matrix).all():
                raise LanguagesError(
                    f"{self.name} found no finite map for {language}; its vectors may be zero or "
                    "of extreme size, or the dictionary too small. Look at both; regularize more."
                )
        self.normalizer_, self.report_, self.reranking_ = normalizer, report, {}
        # Each its own array, laid out as a loaded one is: BLAS rounds other layouts differently.
        self.matrices_: dict[str, Matrix] = {
            name: np.array(matrices[name], np.float64, order="C") for name in languages
        }
        return self

    def learn_alone(
        self, words: Mapping[str, Sequence[str]], vectors: Vectors, report: FitReport
    ) -> dict[str, Matrix]:
        """Return A for each language, from no dictionary; only for mappers that need none."""
        raise NotImplementedError(f"{type(self).__name__} must define learn_alone.")

    def _given_pairs(
        self, languages: Mapping[str, Embeddings], dictionaries: Dictionaries
    ) -> dict[LanguagePair, RowPairs]:
        if self.needs_dictionary:
            pairs = pair_languages(languages, dictionaries)
            check_connected(languages, pairs)
            return pairs
        if dictionaries:
            raise DictionaryError(
                f"{self.name} learns without a dictionary; given are {len(dictionaries)}. Give "
                f"none, fit(embeddings, {{}}), or use {self.supervised}, which learns "
                "from a dictionary and grows it."
            )
        if len(languages) < 2:
            raise LanguagesError(f"A fit needs at least two languages; there are {[*languages]}.")
        for language, value in languages.items():
            _check_frequency_order(language, value)
        return {}

    def _learn_checked(
        self,
        languages: Mapping[str, Embeddings],
        vectors: Vectors,
        pairs: Pairs,
        report: FitReport,
    ) -> dict[str, Matrix]:
        try:
            if self.needs_dictionary:
                return self.learn(vectors, pairs, report)
            words = {name: value.words for name, value in languages.items()}
            return self.learn_alone(words, vectors, report)
        except FactorizationError as error:
            raise LanguagesError(f"{self.name} found no map. {error}") from error
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
            for part in slices(len(rows), BLOCK_ROWS):
                normalized = self.normalizer_.transform(language, rows[part])
                np.matmul(normalized, matrix, out=mapped[part])
                _refuse_overflow(language, rows[part], mapped[part])
        return mapped if np.ndim(vectors) == 2 else mapped[0]

    def W(self, source: str, target: str) -> Matrix:
        """Return the d x d matrix with x W z' = map(x) . map(z), for normalized x and z."""
        product: Matrix = self._matrix(source) @ self._matrix(target).T
        return product

    def maps_into(
        self, target: str, embeddings: Mapping[str, Embeddings]
    ) -> dict[str, RowFunction]:
        """Return what moves each other language into the target's vectors as they are."""
        if type(self).transform is not LinearMapper.transform:  # more than normalizing and A
            return super().maps_into(target, embeddings)
        dimension = len(self._matrix(target))
        if target not in embeddings:
            raise LanguagesError(
                f"Languages are moved into the vectors of {target!r}, which are not among these: "
                f"{', '.join(embeddings)}. Give its embeddings, too: their lengths are needed."
            )
        for name, given in embeddings.items():
            if given.dimension != len(self._matrix(name)):
                raise LanguagesError(
                    f"The vectors of {name} had {len(self._matrix(name))} dimensions in fit; these "
                    f"have {given.dimension}."
                )
        lengths = self.normalizer_.lengths(target, embeddings[target].rows)
        self.normalizer_.inverse(target, np.zeros((1, dimension)), lengths)  # there is one
        moved: dict[str, RowFunction] = {}
        for source in embeddings:
            if source != target:
                both = [self.normalizer_.view(n, embeddings[n].rows) for n in (source, target)]
                matrix = matrix_into(self.W(source, target), *both)
                normalizer = self.normalizer_.only(source, target)
                moved[source] = IntoMap(normalizer, source, target, matrix, lengths)
        return moved

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
        self.matrices_, self.normalizer_, self.report_ = matrices, normalizer, FitReport()

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


def _check_frequency_order(language: str, embeddings: Embeddings) -> None:
    order = embeddings.frequency_order()
    if order is not None and order < MIN_FREQUENCY_ORDER:
        warnings.warn(
            f"The words of {language} are not in the order of their counts ({order:.0%} of them "
            "count no more than the word before), but methods that need no dictionary look at the "
            "most frequent words first. Sort them by count.",
            stacklevel=4,
        )


def _counts(edge: LanguagePair, pairs: RowPairs) -> PairCounts:
    missing = (len(pairs.missing_source), len(pairs.missing_target))
    return PairCounts(len(pairs), dict(zip(edge, missing, strict=True)), pairs.sha256)


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


def _refuse_overflow(language: str, given: Matrix, mapped: Matrix) -> None:
    if not np.isfinite(mapped).all() and np.isfinite(given).all():
        raise LanguagesError(
            f"Mapped vectors of {language} are too large for {mapped.dtype}. Scale the vectors "
            "down, give them in float64, or normalize them by 'unit' first."
        )


def _made_once(embeddings: Embeddings) -> Rows:
    """Return rows that a fit goes over again and again: mapped ones are mapped once."""
    return Rows(embeddings.vectors) if embeddings.rows.functions else embeddings.rows

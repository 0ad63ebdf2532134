"""[fit] A loss of your own over rotations and a metric, minimized by pymanopt's conjugate gradient.

    min over U_L orthogonal, B positive definite of  loss(U, B),     A_L = U_L B^(1/2)

The score of two words is x U_s B U_t' z'. The search starts from the maps A of a mapper that is
solved already (geomm for two languages, geomm_multi for more), B^(1/2) = mean of (A_L' A_L)^(1/2)
and U_L = the rotation nearest to A_L B^(1/2), and ends on relative progress of the cost: a gradient
norm relative to the start "converges" far from the minimum. Jawanpuria, Balgovind, Kunchukuttan,
Mishra (TACL 2019): "we only need to supply the objective function".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.factorization import eigh, few_threads, polar
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport
from geomm_plugin.fitting.latent import root_of_square
from geomm_plugin.fitting.quasi_newton import JointSolution
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry import as_mapper
from geomm_plugin.registry.parameters import AtLeast

SMALLEST_METRIC = 1e-6  # eigenvalue of the first metric, relative to the largest: it is definite
PATIENCE = 10  # iterations over which progress is measured
HALVINGS = 40  # of a step that does not lower the cost; after pymanopt's 10 a search is given up

Matrices: TypeAlias = Mapping[str, Matrix]  # by language


class _Converged(Exception):
    """Ends pymanopt's loop from inside a gradient evaluation."""


def minimize(
    cost: Callable[..., float],
    gradient: Callable[..., Sequence[Matrix]],
    rotations: Sequence[Matrix],
    metric: Matrix,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 2000,
    label: str = "Fitting",
) -> JointSolution:
    """Minimize a cost over rotations and a positive definite metric, from a start.

    Parameters
    ----------
    cost, gradient
        Functions of the rotations and the metric, `cost(U_1, ..., U_L, B)`; the gradient, as of
        free matrices, is one array for each.
    """
    import pymanopt
    from pymanopt.manifolds import Product, Stiefel, SymmetricPositiveDefinite
    from pymanopt.optimizers import ConjugateGradient
    from pymanopt.optimizers.line_search import AdaptiveLineSearcher

    start = [*rotations, metric]
    manifold = Product(
        [*(Stiefel(*each.shape) for each in rotations), SymmetricPositiveDefinite(len(metric))]
    )
    costs: list[float] = []
    best = start

    def ended(reason: str) -> JointSolution:
        return JointSolution(best[:-1], best[-1], costs[-1], len(costs) - 1, reason)

    with progress.task(label, total=None) as advance, few_threads():

        def watched_gradient(*point: Matrix) -> Sequence[Matrix]:
            # pymanopt asks for a gradient exactly once at each iterate.
            nonlocal best
            costs.append(float(cost(*point)))
            best = list(point)
            advance(1, note=f"cost {costs[-1]:.6g}")
            if len(costs) > PATIENCE:
                progress_made = costs[-1 - PATIENCE] - costs[-1]
                if progress_made <= tolerance * max(abs(costs[-1]), 1e-300):
                    raise _Converged
            return gradient(*point)

        decorate = pymanopt.function.numpy(manifold)
        problem = pymanopt.Problem(
            manifold, decorate(cost), euclidean_gradient=decorate(watched_gradient)
        )
        optimizer = ConjugateGradient(
            max_iterations=max_iterations,
            max_time=float("inf"),
            min_gradient_norm=0,
            line_searcher=AdaptiveLineSearcher(max_iterations=HALVINGS),
            verbosity=0,
        )
        if not manifold.norm(start, problem.riemannian_gradient(start)) > 0:
            return ended("The start is a stationary point.")
        costs.clear()
        try:
            result = optimizer.run(problem, initial_point=start)
        except _Converged:
            return ended(
                f"The cost fell by less than {tolerance:g} (relative) in {PATIENCE} iterations."
            )
    # "Terminated - max iterations reached after 0.60 seconds.": no two runs share the times.
    reason = result.stopping_criterion.removeprefix("Terminated - ").partition(" after")[0]
    return ended(f"pymanopt stopped: {reason}.")


@dataclass(kw_only=True, eq=False, repr=False)
class RiemannianMapper(LinearMapper):
    """Write loss() with `autograd.numpy`; the search for rotations and a metric is given.

    A mapper that pulls translations together and all other pairs of words apart:

        import autograd.numpy as np

        @dataclass(kw_only=True, eq=False, repr=False)
        class Apart(RiemannianMapper):
            "Translations score 1, other words of the dictionary 0."

            name: ClassVar[str] = "apart"

            def loss(self, rotations, metric, vectors, pairs):
                total = 0.1 * np.sum(metric**2)
                for (source, target), own in pairs.items():
                    x = vectors[source][own.source] @ rotations[source] @ metric
                    z = vectors[target][own.target] @ rotations[target]
                    total = total + np.mean((x @ z.T - np.eye(len(own))) ** 2)
                return total

    Randomness, such as that of negative examples, comes from `np.random.default_rng(seed)` inside
    loss(), the same at every call: a search needs a loss that stays as it is.
    """

    joint: ClassVar[bool] = True

    start: str | None = None  # the mapper to start from; None: geomm, of many languages geomm_multi
    tolerance: Annotated[float, AtLeast(0)] = 1e-6  # of relative progress in ten iterations
    max_iterations: Annotated[int, AtLeast(1)] = 200

    @abstractmethod
    def loss(
        self,
        rotations: Mapping[str, Any],
        metric: Any,
        vectors: Matrices,
        pairs: Mapping[tuple[str, str], RowPairs],
    ) -> Any:
        """Return what is minimized: one number.

        Parameters
        ----------
        rotations
            The orthogonal d x d matrix U of each language.
        metric
            B, a symmetric positive definite d x d matrix.
        vectors
            The normalized vectors of each language's *dictionary words*, each word once, in
            float64; never the whole vocabulary. Where languages have different dimensions, the
            smaller ones are filled up with zeros.
        pairs
            By pair of languages, {("en", "es"): own}: word `own.source[n]` of `vectors["en"]`
            translates to word `own.target[n]` of `vectors["es"]`.
        """

    def gradient(
        self,
        rotations: Matrices,
        metric: Matrix,
        vectors: Matrices,
        pairs: Mapping[tuple[str, str], RowPairs],
    ) -> tuple[Matrices, Matrix]:
        """Return the derivatives of the loss in each rotation and in the metric, by autograd.

        They are those of a function of free matrices. Overwrite this where you can write them down
        yourself; `RiemannianMapper.gradient(mapper, ...)` remains to compare them with.
        """
        from autograd import grad

        languages = list(rotations)

        def of_arrays(*point: Any) -> Any:
            return self.loss(dict(zip(languages, point, strict=False)), point[-1], vectors, pairs)

        slopes = grad(of_arrays, argnum=tuple(range(len(languages) + 1)))(
            *rotations.values(), metric
        )
        return dict(zip(languages, slopes[:-1], strict=True)), slopes[-1]

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return A_L = U_L B^(1/2) where the search ends."""
        first = self._start(vectors, pairs, report)
        rows, own_pairs = dictionary_words(vectors, pairs)
        rotations, metric = rotations_and_metric(first)
        rows = {name: _padded(each, len(each), len(metric)) for name, each in rows.items()}

        def cost(*point: Matrix) -> float:
            loss = float(self.loss(named(point), point[-1], rows, own_pairs))
            return loss if np.isfinite(loss) else np.inf  # a step there is too long

        def gradient(*point: Matrix) -> list[Matrix]:
            in_rotations, in_metric = self.gradient(named(point), point[-1], rows, own_pairs)
            return [*(in_rotations[name] for name in rotations), in_metric]

        def named(point: Sequence[Matrix]) -> dict[str, Matrix]:
            return dict(zip(rotations, point, strict=False))

        loss = self._check(cost, gradient, [*rotations.values(), metric])
        report.extras["start"] = {"loss": loss}
        solution = minimize(
            cost,
            gradient,
            list(rotations.values()),
            metric,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            label=f"{self.name} by conjugate gradient",
        )
        report.solver[ALL_DICTIONARIES] = solution.run("conjugate gradient")
        return joint_maps(vectors, list(rotations), solution)

    def _start(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return the maps of the mapper to start from; what it chose is reported."""
        choice = self.start or ("geomm" if len(vectors) == 2 else "geomm_multi")
        mapper = as_mapper(choice)
        if not isinstance(mapper, LinearMapper) or not mapper.needs_dictionary:
            raise ParameterError(
                f"{self.name} starts from one matrix a language, learnt from dictionaries; "
                f"{choice} has none. Give start=... a mapper such as procrustes or geomm."
            )
        first = mapper.learn(vectors, pairs, report)
        report.hub = None  # the joint search has none
        return first

    def _check(self, cost: Any, gradient: Any, point: Sequence[Matrix]) -> float:
        """Return the loss at the start, or a sentence on what is wrong with it."""
        try:
            loss, slopes = float(cost(*point)), gradient(*point)
        except (TypeError, ValueError) as error:  # the loss of anybody: autograd says little
            raise ParameterError(
                f"The loss of {self.name} has no value or no gradient ({error}). Write it with "
                "`import autograd.numpy as np`, let it return one number, and change no array in "
                "place; or write gradient(), too."
            ) from error
        if not np.isfinite(loss) or not all(np.isfinite(slope).all() for slope in slopes):
            raise LanguagesError(
                f"The loss of {self.name} is not finite at its start ({loss:g}), or its gradient "
                "is not. Look at vectors that are zero or of extreme size; normalize them by "
                "'unit', or guard logarithms, roots and divisions in the loss."
            )
        return loss


def joint_maps(
    vectors: Vectors, languages: Sequence[str], solution: JointSolution
) -> dict[str, Matrix]:
    """Return A_L = U_L B^(1/2) of each language, the heaviest columns first."""
    values, basis = eigh(solution.metric)
    root, basis = np.sqrt(values[::-1]), basis[:, ::-1]
    return {
        language: (rotation @ basis)[: vectors[language].shape[1]] * root
        for language, rotation in zip(languages, solution.rotations, strict=True)
    }


def dictionary_words(
    vectors: Vectors, pairs: Pairs
) -> tuple[dict[str, Matrix], dict[tuple[str, str], RowPairs]]:
    """Return the vectors of each language's dictionary words, and the pairs as rows of these."""
    sides: dict[str, list[Any]] = {language: [] for language in vectors}
    for (source, target), own in pairs.items():
        sides[source].append(own.source)
        sides[target].append(own.target)
    words = {language: np.unique(np.concatenate(rows)) for language, rows in sides.items()}
    among = {
        (source, target): replace(
            own,
            source=np.searchsorted(words[source], own.source),
            target=np.searchsorted(words[target], own.target),
        )
        for (source, target), own in pairs.items()
    }
    return {name: vectors[name][rows].astype(np.float64) for name, rows in words.items()}, among


def rotations_and_metric(maps: Matrices) -> tuple[dict[str, Matrix], Matrix]:
    """Return U of each language and B, all of the same size, for maps A."""
    size = max(max(each.shape) for each in maps.values())
    padded = {name: _padded(each, size, size) for name, each in maps.items()}
    root = sum((root_of_square(a) for a in padded.values()), np.zeros((size, size))) / len(maps)
    values, basis = eigh(root @ root)
    largest = float(values.max())
    positive = (
        np.maximum(values, max(largest * SMALLEST_METRIC, 1e-300)) if largest > 0 else values + 1
    )
    rotations = {name: polar(a @ root) for name, a in padded.items()}
    return rotations, (basis * positive) @ basis.T


def _padded(matrix: Matrix, rows: int, columns: int) -> Matrix:
    return np.pad(matrix, [(0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])])

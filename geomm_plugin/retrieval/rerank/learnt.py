"""What was learnt for the re-ranking of two languages, and how sure its answers are.

A softmax over the candidates of x and "none of these", and how often such an answer was right:

    q(z | x) = exp(s score(x, z)) / (exp(s n) + sum over candidates z' of exp(s score(x, z')))
    logit p(z | x) = a + b logit q(z | x) + c (log rank(x) - 7)

The first gives words with several translations a part of the whole each; the second says how
probably each is right, on rare words as on frequent ones. The five parameters are learnt
(`Belief.of`) for the best answers to words that neither the map nor the weights have seen, once
with their right candidates and, counted as a twentieth, with these hidden.

Where a dictionary is small or missing, both come with the package. `shipped.json` was learnt on 900
training words each of en-es and en-it (maps and features from 100 other pairs): as they are
(`alike`, for near languages), and with each target word spelt at random, the weights of letters at
their fixed values (`different`, for distant ones); its probabilities also on words of ru-fr, each
pair's by weights of another. benchmarks/shipped_weights.py repeats the steps on any dictionaries;
its random spellings are others, and its numbers near, not equal.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.files.trust import parse_json
from geomm_plugin.retrieval.rerank.logit import softmax

MIDDLE = 7.0  # log of rank 1,100
HIDDEN = 0.05  # the weight of a word whose right candidates are hidden
MAX_LOG = 700.0  # of which exp is still a number
BEST = 10  # candidates that are looked at to learn probabilities
SHARE = 0.45  # of pairs spelt alike in the languages that `alike` was learnt on

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Belief:
    """Turns scores into probabilities.

    Parameters
    ----------
    parameters
        log s, n, a, log b, c.
    right
        For words whose translations are known, the largest probability of a right candidate: what
        `least` goes by. 0 where there was none.
    """

    parameters: Sequence[float]
    right: Vector = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, scores: Matrix, is_correct: Mask, log_ranks: Vector) -> Belief:
        """Learn from the scores of candidates: of answers with p, a share of p should be right."""
        from scipy.optimize import minimize

        order = np.argsort(-scores, axis=1, kind="stable")
        scores = np.take_along_axis(scores, order, axis=1)
        is_correct = np.take_along_axis(is_correct, order, axis=1)
        hidden = -np.sort(-np.where(is_correct, -np.inf, scores), axis=1)
        both = np.concatenate([scores[:, :BEST], hidden[:, :BEST]])
        both[~np.isfinite(both[:, 0])] = np.append(0.0, np.full(both.shape[1] - 1, -np.inf))
        is_right = np.concatenate([is_correct[:, 0], np.zeros(len(hidden), bool)])
        ranks = np.concatenate([log_ranks, log_ranks])
        weights = np.repeat([1.0, HIDDEN], len(scores)) / len(scores)

        def loss(parameters: Vector) -> float:
            p = Belief(parameters.tolist()).probabilities(both, ranks)[:, 0].clip(1e-6, 1 - 1e-6)
            held = 1e-3 * float(parameters[3] ** 2 + parameters[4] ** 2)
            return held - float(weights @ np.where(is_right, np.log(p), np.log1p(-p)))

        first = np.array([math.log(10.0), float(np.median(scores[:, 0])) - 0.2, 0.0, 0.0, 0.0])
        found = minimize(loss, first, method="L-BFGS-B", options={"maxiter": 100}).x
        learnt = cls(found.tolist())
        best = np.where(is_correct, learnt.probabilities(scores, log_ranks), 0.0).max(axis=1)
        return replace(learnt, right=np.sort(best).astype(np.float32))

    def probabilities(self, scores: Matrix, log_ranks: Vector) -> Matrix:
        """Return the probability of each candidate from the scores of all (-inf: none there)."""
        log_s, n, a, log_b, c = self.parameters
        utility = math.exp(log_s) * np.pad(scores, [(0, 0), (0, 1)], constant_values=n)
        shares = softmax(utility)[1][:, :-1].clip(1e-12, 1 - 1e-12)
        logits = np.log(shares) - np.log1p(-shares)
        logits = a + math.exp(log_b) * logits + c * (log_ranks - MIDDLE)[:, None]
        found: Matrix = np.where(np.isfinite(scores), 1 / (1 + np.exp(-logits.clip(-50, 50))), 0.0)
        return found

    def least(self, coverage: float) -> float:
        """Return the probability from which answers make a set that holds a right one so often.

        Split conformal: of n words whose translations are known, ceil((n + 1) coverage) have a
        right candidate of at least this probability.
        """
        if not 0 < coverage < 1:
            raise ParameterError(f"coverage is a share between 0 and 1; it is {coverage:g}.")
        count = len(self.right)
        needed = math.ceil((count + 1) * coverage)
        if needed <= count and self.right[count - needed] > 0:
            return float(self.right[count - needed])
        most = np.count_nonzero(self.right) / (count + 1)
        raise ParameterError(
            f"No set of candidates has a coverage of {coverage:g}: "
            + (
                f"of the words that were learnt from {most:.1%} have one. Ask for less."
                if count
                else "no weights were learnt from a dictionary of these languages. Learn them with "
                "learn_reranking, or align with rerank."
            )
        )


@dataclass(frozen=True, eq=False)
class Learnt(Mapping[str, float]):
    """Weights by number, as a mapping; and what features need besides.

    Parameters
    ----------
    weights
        By the names of the numbers, in units of the base's score.
    pairs
        The translations that features learn from: the training dictionary, or mutual pairs.
    columns
        The weights of sparse features, by the name of the feature.
    belief
        What turns scores into probabilities.
    is_reversed
        Whether it was learnt in the other direction.
    """

    weights: Mapping[str, float]
    pairs: Sequence[tuple[str, str]] = ()
    columns: Mapping[str, Vector] = field(default_factory=dict)
    belief: Belief | None = None
    is_reversed: bool = False

    def __getitem__(self, name: str) -> float:
        return self.weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Learnt):
            return self.digest == other.digest
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {weight:.3g}" for name, weight in self.items())
        return f"<Learnt {self.digest[:8]}: {shown}>"

    @cached_property
    def digest(self) -> str:
        """A checksum of everything in it."""
        description, arrays = self.state()
        found = hashlib.sha256(json.dumps([description, self.is_reversed]).encode())
        for name in sorted(arrays):
            found.update(name.encode() + arrays[name].tobytes())
        return found.hexdigest()

    def reversed(self) -> Learnt:
        """Return the same for translation in the other direction."""
        pairs = [(target, source) for source, target in self.pairs]
        return replace(self, pairs=pairs, is_reversed=not self.is_reversed)

    def rows(self, source: Sequence[str], target: Sequence[str]) -> RowIndices:
        """Return the rows of the pairs whose words are in both vocabularies."""
        here, there = rows_by_word(source), rows_by_word(target)
        known = [(here[a], there[b]) for a, b in self.pairs if a in here and b in there]
        return np.array(known, np.intp).reshape(-1, 2)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what is saved of it: as JSON, and as arrays by name."""
        description: dict[str, Any] = {"weights": dict(self.weights)}
        text = json.dumps([list(pair) for pair in self.pairs]).encode()
        arrays: Arrays = {"pairs": np.frombuffer(text, np.uint8)} if self.pairs else {}
        arrays |= {f"columns/{name}": np.asarray(own) for name, own in self.columns.items()}
        if self.belief is not None:
            description["belief"] = list(self.belief.parameters)
            arrays["right"] = self.belief.right
        return description, arrays

    @classmethod
    def from_state(cls, description: object, arrays: Mapping[str, npt.NDArray[Any]]) -> Learnt:
        """Take back what state() gave; what does not fit is a FormatError."""
        match description:
            case {"weights": dict(weights), **others} if all(map(_is_number, weights.values())):
                belief = others.get("belief")
            case _:
                raise FormatError("there are no weights by name")
        if belief is not None:
            right = np.asarray(arrays.get("right", np.empty(0)), np.float32)
            if not (isinstance(belief, list) and len(belief) == 5 and all(map(_is_number, belief))):
                raise FormatError("its 'belief' is not a list of five numbers")
            if max(belief[0], belief[3]) > MAX_LOG:
                raise FormatError("its 'belief' holds logarithms that are too large")
            if right.ndim != 1 or not np.isfinite(right).all():
                raise FormatError("'right' is not a list of probabilities")
            belief = Belief(belief, np.sort(right))
        columns = {
            name.removeprefix("columns/"): array
            for name, array in arrays.items()
            if name.startswith("columns/")
        }
        if any(own.ndim != 1 or not np.isfinite(own).all() for own in columns.values()):
            raise FormatError("its columns are not lists of finite numbers")
        numbers = {name: float(weight) for name, weight in weights.items()}
        return cls(numbers, _pairs(arrays.get("pairs")), columns, belief)


def as_learnt(weights: Mapping[str, float]) -> Learnt:
    """Return plain weights as what was learnt with nothing else."""
    return weights if isinstance(weights, Learnt) else Learnt(dict(weights))


def rows_by_word(words: Sequence[str]) -> dict[str, int]:
    """Return the row of each word; of equal words the first."""
    return dict(zip(reversed(words), range(len(words) - 1, -1, -1), strict=True))


def belief_of_fixed() -> Belief:
    """Say how sure answers by the fixed weights are."""
    belief = _shipped("fixed").belief
    assert belief is not None
    return belief


def shipped_weights(share: float) -> Learnt:
    """Return weights for languages of which this share of translations is spelt alike.

    Those of `alike` count by the root of the share, as was chosen on the words of `shipped.json`.
    """
    alike, different = _shipped("alike"), _shipped("different")
    much = math.sqrt(min(1.0, share / SHARE))
    mixed = {name: own + (alike[name] - own) * much for name, own in different.items()}
    return Learnt(mixed, belief=alike.belief)


@cache
def _shipped(name: str) -> Learnt:
    text = resources.files("geomm_plugin.retrieval.rerank").joinpath("shipped.json").read_text()
    return Learnt.from_state(json.loads(text)[name], {})


def _pairs(array: npt.NDArray[Any] | None) -> list[tuple[str, str]]:
    if array is None:
        return []
    if array.dtype != np.uint8:
        raise FormatError("its pairs are not a text")
    try:
        pairs = parse_json(array.tobytes())
        found = [(source, target) for source, target in pairs]
    except (ValueError, TypeError) as error:
        raise FormatError(f"its pairs cannot be read ({error})") from error
    if not all(isinstance(word, str) for pair in found for word in pair):
        raise FormatError("its pairs are not texts")
    return found


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]

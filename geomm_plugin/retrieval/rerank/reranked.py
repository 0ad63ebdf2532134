"""Vectors propose, letters decide: the answers of another retrieval in a better order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from geomm_plugin import registry
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.registry import as_retrieval
from geomm_plugin.registry.parameters import check_parameters
from geomm_plugin.retrieval.interface import Retrieval
from geomm_plugin.retrieval.rerank.feature import Base, Feature
from geomm_plugin.retrieval.rerank.reranked_index import RerankedIndex
from geomm_plugin.retrieval.unit_rows import Rows, as_unit_rows


@dataclass(frozen=True, kw_only=True)
class Reranked(Retrieval):
    """CSLS + 0.2 g + 0.3 sqrt(g), g how alike two words are spelt: finds cognates and names.

    The score of the base plus weighted numbers of the features, for the best candidates of both.
    It reads words, so that it needs a SharedSpace, or UnitRows with words.
    """

    name: ClassVar[str] = "reranked"
    base: str | Retrieval = "csls"
    features: tuple[str, ...] = ("letters",)
    weights: Literal["auto", "fixed", "learnt"] | dict[str, float] = (
        "auto"  # learnt where the space carries them, else fixed; "learnt": compare learns them
    )

    def index(self, source: Rows, target: Rows) -> RerankedIndex:
        """Prepare to search; n-grams are counted when they are needed."""
        check_parameters(self)
        source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
        retrieval = as_retrieval(self.base)
        if isinstance(retrieval, Reranked):
            raise ParameterError(
                "The base of a re-ranking is another retrieval: csls, cosine, ..., not reranked."
            )
        base = Base(retrieval, retrieval.index(source, target))
        features = [kind(source, target, base) for kind in self.feature_classes()]
        return RerankedIndex(base.index, len(target), features, self.all_weights())

    def feature_classes(self) -> list[type[Feature]]:
        """Return the classes of the features, each once."""
        return [registry.features[name] for name in dict.fromkeys(self.features)]

    def fixed_weights(self) -> dict[str, float]:
        """Return the weight of each number where none are learnt."""
        return {
            name: weight
            for feature in self.feature_classes()
            for name, weight in feature.fixed_weights.items()
        }

    def all_weights(self) -> dict[str, float]:
        """Return the weight of each number; those that are given win over the fixed ones."""
        fixed = self.fixed_weights()
        given = self.weights if isinstance(self.weights, dict) else {}
        for name in given:
            if name not in fixed:
                raise ParameterError(
                    f"No feature of this re-ranking tells a number {name!r}."
                    f"{did_you_mean(name, fixed)} There are: {', '.join(fixed)}."
                )
        return fixed | {name: float(weight) for name, weight in given.items()}

    def with_weights(self, weights: Literal["fixed"] | dict[str, float]) -> Reranked:
        """Return the same re-ranking with other weights."""
        return replace(self, weights=weights)

    def with_learnt(self, weights: Mapping[str, float] | None) -> Retrieval:
        """Take weights that were learnt for two languages, unless others were asked for."""
        if not weights or self.weights not in ("auto", "learnt"):
            return self
        names = {name: kind for kind in registry.features.values() for name in kind.fixed_weights}
        features: dict[str, Any] = {names[name].name: None for name in weights if name in names}
        return replace(self, features=tuple(features), weights=dict(weights))

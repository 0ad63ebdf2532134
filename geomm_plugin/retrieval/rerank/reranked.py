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
from geomm_plugin.retrieval.rerank import shipped
from geomm_plugin.retrieval.rerank.feature import NO_PAIRS, Base, Feature, SparseFeature
from geomm_plugin.retrieval.rerank.learnt import Learnt, as_learnt
from geomm_plugin.retrieval.rerank.reranked_index import RerankedIndex
from geomm_plugin.retrieval.unit_rows import AnyRows, as_unit_rows


@dataclass(frozen=True, kw_only=True)
class Reranked(Retrieval):
    """CSLS + 0.2 g + 0.3 sqrt(g), g how alike two words are spelt; or with learnt weights.

    The score of the base plus weighted numbers of the features, for the best candidates of both.
    It reads words, so that it needs a SharedSpace, or UnitRows with words.
    """

    name: ClassVar[str] = "reranked"
    base: str | Retrieval = "csls"
    features: tuple[str, ...] = ()  # none: letters where weights are fixed, all where learnt
    weights: Literal["auto", "fixed", "learnt"] | dict[str, float] | Learnt = (
        "auto"  # or "learnt": those that the space carries, and fixed ones where it has none
    )

    def index(self, source: AnyRows, target: AnyRows) -> RerankedIndex:
        """Prepare to search; n-grams are counted when they are needed."""
        check_parameters(self)
        source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
        retrieval = as_retrieval(self.base)
        if isinstance(retrieval, Reranked):
            raise ParameterError(
                "The base of a re-ranking is another retrieval: csls, cosine, ..., not reranked."
            )
        learnt = self.weights if isinstance(self.weights, Learnt) else Learnt({})
        pairs = learnt.rows(source.words or (), target.words or ()) if learnt.pairs else NO_PAIRS
        base = Base(retrieval, retrieval.index(source, target), pairs)
        features = [kind(source, target, base) for kind in self.feature_classes()]
        for feature in features:
            if isinstance(feature, SparseFeature) and feature.name in learnt.columns:
                feature.learn(learnt.columns[feature.name], learnt.is_reversed)
        belief = learnt.belief or shipped.belief_of_fixed()
        return RerankedIndex(base.index, source, target, features, self.all_weights(), belief)

    def feature_classes(self) -> list[type[Feature]]:
        """Return the classes of the features, each once."""
        return [registry.features[name] for name in dict.fromkeys(self.features or ("letters",))]

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
        given = {} if isinstance(self.weights, str) else self.weights
        for name in given:
            if name not in fixed:
                raise ParameterError(
                    f"No feature of this re-ranking has a number {name!r}."
                    f"{did_you_mean(name, fixed)} There are: {', '.join(fixed)}."
                )
        return fixed | {name: float(weight) for name, weight in given.items()}

    def with_weights(self, weights: Literal["fixed"] | Mapping[str, float]) -> Reranked:
        """Return the same re-ranking with other weights, and the features that they are of."""
        if isinstance(weights, str):
            return replace(self, weights=weights)
        names = {name: kind for kind in registry.features.values() for name in kind.fixed_weights}
        features: dict[str, Any] = {names[name].name: None for name in weights if name in names}
        return replace(self, features=tuple(features), weights=as_learnt(weights))

    @property
    def learns(self) -> bool:
        """Whether weights that were learnt for two languages are used."""
        return isinstance(self.weights, str) and self.weights != "fixed"

    def with_learnt(self, weights: Mapping[str, float] | None) -> Retrieval:
        """Take weights that were learnt for two languages, unless others were asked for."""
        return self.with_weights(weights) if weights and self.learns else self

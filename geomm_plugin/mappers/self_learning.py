"""Self-learning around any linear mapper: fit, translate, fit again with what was found.

    min over maps of the mapper's own loss, over dictionary + pairs that the last maps found

Bootstrapping from a small dictionary: Artetxe, Labaka, Agirre: "Learning bilingual word embeddings
with (almost) no bilingual data", ACL 2017. How pairs are found and when the loop ends is told in
`geomm_plugin.fitting.self_learner`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.errors import ParameterError
from geomm_plugin.fitting.self_learner import Pairs, SelfLearner, Vectors
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.mappers.procrustes import Procrustes
from geomm_plugin.registry import as_mapper


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearning(SelfLearner):
    """Wrap any linear mapper in self-learning: works from a few dozen pairs."""

    name: ClassVar[str] = "self_learning"

    normalize: tuple[str, ...] | None = None  # type: ignore[assignment]  # those of the mapper
    mapper: str = "procrustes"  # a linear mapper, e.g. geomm or geomm:regularization=100

    @property
    def joint(self) -> bool:  # type: ignore[override]
        """Whether the mapper inside learns many languages at once."""
        return linear_mapper(self.mapper).joint

    def steps(self) -> tuple[str, ...]:
        """Return the steps given, or those of the mapper inside."""
        return linear_mapper(self.mapper).steps() if self.normalize is None else self.normalize

    def learner(self, vectors: Vectors, pairs: Pairs, held: Pairs, induced: bool) -> LinearMapper:
        """Return the mapper."""
        return linear_mapper(self.mapper)


@dataclass(kw_only=True, eq=False, repr=False)
class ProcrustesSemi(SelfLearner):
    """Procrustes with self-learning: rotations from a few dozen pairs."""

    name: ClassVar[str] = "procrustes_semi"

    hub: str | None = None  # of many languages; by default that with the most dictionaries

    def learner(self, vectors: Vectors, pairs: Pairs, held: Pairs, induced: bool) -> LinearMapper:
        """Return Procrustes."""
        return Procrustes(hub=self.hub)


def linear_mapper(choice: str) -> LinearMapper:
    """Return the linear mapper chosen; others cannot be fitted to pairs of rows."""
    mapper = as_mapper(choice)
    if not isinstance(mapper, LinearMapper) or isinstance(mapper, SelfLearner):
        raise ParameterError(
            f"Self-learning wraps linear mappers, such as 'procrustes'; {choice!r} is "
            f"{'self-learning already' if isinstance(mapper, SelfLearner) else 'not linear'}."
        )
    return mapper

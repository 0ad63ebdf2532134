"""Self-learning around any linear mapper: fit, translate, fit again with what was found.

    min over maps of the mapper's own loss, over dictionary + pairs that the last maps found

Bootstrapping from a small dictionary: Artetxe, Labaka, Agirre: "Learning bilingual word embeddings
with (almost) no bilingual data", ACL 2017. How pairs are found and when the loop ends: see
`geomm_plugin.fitting.self_learning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from geomm_plugin.errors import ParameterError
from geomm_plugin.fitting.hub import Wrapper
from geomm_plugin.fitting.self_learning import SelfLearner
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.mappers.procrustes import Procrustes
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearning(Wrapper, SelfLearner):
    """Wrap any linear mapper in self-learning: works from a few dozen pairs."""

    name: ClassVar[str] = "self_learning"

    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return the mapper inside."""
        return self.inner()

    def inner(self) -> LinearMapper:
        """Return the mapper inside, which must not be self-learning itself."""
        mapper = super().inner()
        if isinstance(mapper, SelfLearner):
            raise ParameterError(
                f"{self.name}: mapper={self.mapper!r} is self-learning already; wrap a plain "
                "linear mapper, such as 'procrustes'."
            )
        return mapper


@dataclass(kw_only=True, eq=False, repr=False)
class ProcrustesSemi(SelfLearner):
    """Procrustes with self-learning: rotations from a few dozen pairs."""

    name: ClassVar[str] = "procrustes_semi"

    hub: str | None = None  # of many languages; by default that with the most dictionaries

    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return Procrustes."""
        return Procrustes(hub=self.hub)


@dataclass(kw_only=True, eq=False, repr=False)
class UnsupervisedRotation(ProcrustesSemi):
    """What rotations without a dictionary share, whatever they start from."""

    needs_dictionary: ClassVar[bool] = False
    supervised: ClassVar[str] = "procrustes_semi"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    vocabulary: Annotated[int, AtLeast(1)] = 10_000  # most frequent words to find pairs among

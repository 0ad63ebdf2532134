"""Classification with an unconstrained W (ablation 1 of the GeoMM paper).

    min over W of   ||X_s W X_t' - Y||^2 + lambda ||W||^2 ,     A_s = W,  A_t = I

The same closed form as GeoMM; but source words are mapped into the target's own space and compared
there, so the metric weighs on one side only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.fitting.regularized import RegularizedMapper
from geomm_plugin.mappers.geomm import ClosedForm, GeoMM


@dataclass(kw_only=True, eq=False, repr=False)
class Unconstrained(RegularizedMapper):
    """Learn any W by classification and compare in the target's space (ablation 1)."""

    name: ClassVar[str] = "unconstrained"
    candidates: ClassVar[tuple[float, ...]] = GeoMM.candidates
    default: ClassVar[float] = GeoMM.default

    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return the closed form for every lambda."""
        return ClosedForm(edge.moments()).W

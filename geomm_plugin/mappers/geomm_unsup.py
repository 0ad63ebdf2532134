"""GeoMM without any dictionary: a start from structure or spelling, and the mixture's own rounds.

    min over W of   ||X W Z' - Y||^2 + lambda ( a c ||W||^2 + mu ( c ||X W||^2 + a ||W Z'||^2 ) )

as in `geomm_plus`, but Y holds no given pair: it begins with what `seeds` find, and every round
replaces it by the mutual best translations of the last maps, labelled by CSLS. "An unsupervised
extension to our approach" is named as future work by Jawanpuria et al., TACL 2019.

The default seeds are tried in turn until one is confirmed: a Gromov-Wasserstein coupling of the
most frequent words (by structure, and by how frequent words are: vocabularies are expected in the
order of frequency), then words that are spelt alike. `seeds=gromov_wasserstein` is the purely
structural method. Where no seed leads to translations the fit ends in an UnsupervisedError (docs,
"No dictionary?").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from geomm_plugin.mappers.geomm_plus import GeoMMPlus
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMUnsup(GeoMMPlus):
    """GeoMM without any dictionary: from structure, frequency and spelling alone."""

    name: ClassVar[str] = "geomm_unsup"
    needs_dictionary: ClassVar[bool] = False
    supervised: ClassVar[str] = "geomm_plus"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    vocabulary: Annotated[int, AtLeast(1)] = 10_000  # most frequent words to find pairs among
    seeds: tuple[str, ...] = ("gromov_wasserstein", "cognates")  # tried in turn

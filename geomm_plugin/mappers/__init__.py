"""[fit] The mappers, one method per file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_plugin.mapper import Mapper
    from geomm_plugin.mappers.adv_refine import AdvRefine
    from geomm_plugin.mappers.cca import CCA
    from geomm_plugin.mappers.contrastive import Contrastive
    from geomm_plugin.mappers.geomm import GeoMM
    from geomm_plugin.mappers.geomm_multi import GeoMMMulti
    from geomm_plugin.mappers.geomm_plus import GeoMMPlus
    from geomm_plugin.mappers.geomm_rcsls import GeoMMRCSLS
    from geomm_plugin.mappers.geomm_semi import GeoMMMultiSemi, GeoMMSemi
    from geomm_plugin.mappers.geomm_unsup import GeoMMUnsup
    from geomm_plugin.mappers.gpa import GPA
    from geomm_plugin.mappers.icp import ICP
    from geomm_plugin.mappers.meet_in_the_middle import MeetInTheMiddle, MSFMu
    from geomm_plugin.mappers.metric_only import MetricOnly
    from geomm_plugin.mappers.msf import MSF
    from geomm_plugin.mappers.procrustes import Procrustes
    from geomm_plugin.mappers.rcsls import RCSLS
    from geomm_plugin.mappers.regression import Regression
    from geomm_plugin.mappers.rotation_only import RotationOnly
    from geomm_plugin.mappers.self_learning import ProcrustesSemi, SelfLearning
    from geomm_plugin.mappers.sl_unsup import SLUnsup
    from geomm_plugin.mappers.umwe import UMWE
    from geomm_plugin.mappers.unconstrained import Unconstrained
    from geomm_plugin.mappers.wasserstein_procrustes import WassersteinProcrustes

__all__ = [
    "CCA",
    "GPA",
    "ICP",
    "MSF",
    "RCSLS",
    "UMWE",
    "AdvRefine",
    "Contrastive",
    "GeoMM",
    "GeoMMMulti",
    "GeoMMMultiSemi",
    "GeoMMPlus",
    "GeoMMRCSLS",
    "GeoMMSemi",
    "GeoMMUnsup",
    "MSFMu",
    "MeetInTheMiddle",
    "MetricOnly",
    "Procrustes",
    "ProcrustesSemi",
    "Regression",
    "RotationOnly",
    "SLUnsup",
    "SelfLearning",
    "Unconstrained",
    "WassersteinProcrustes",
]

_NAMES_IN = {  # in the order in which mappers are shown
    "procrustes": ("Procrustes",),
    "geomm": ("GeoMM",),
    "geomm_plus": ("GeoMMPlus",),
    "geomm_multi": ("GeoMMMulti",),
    "geomm_semi": ("GeoMMSemi", "GeoMMMultiSemi"),
    "self_learning": ("ProcrustesSemi", "SelfLearning"),
    "msf": ("MSF",),
    "meet_in_the_middle": ("MSFMu", "MeetInTheMiddle"),
    "gpa": ("GPA",),
    "cca": ("CCA",),
    "rcsls": ("RCSLS",),
    "geomm_rcsls": ("GeoMMRCSLS",),
    "contrastive": ("Contrastive",),
    "geomm_unsup": ("GeoMMUnsup",),
    "sl_unsup": ("SLUnsup",),
    "icp": ("ICP",),
    "wasserstein_procrustes": ("WassersteinProcrustes",),
    "umwe": ("UMWE",),
    "adv_refine": ("AdvRefine",),
    "unconstrained": ("Unconstrained",),
    "regression": ("Regression",),
    "metric_only": ("MetricOnly",),
    "rotation_only": ("RotationOnly",),
}
__getattr__ = names_of(__name__, _NAMES_IN)


@hookimpl
def register_mappers() -> Iterable[type[Mapper]]:
    """The built-in mappers."""
    return [__getattr__(name) for names in _NAMES_IN.values() for name in names]

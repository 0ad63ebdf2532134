"""[fit] The mappers, one method per file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
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

_NAMES_IN = {  # classes and the names that they are registered under, in the order they are shown
    "procrustes": {"Procrustes": "procrustes"},
    "geomm": {"GeoMM": "geomm"},
    "geomm_plus": {"GeoMMPlus": "geomm_plus"},
    "geomm_multi": {"GeoMMMulti": "geomm_multi"},
    "geomm_semi": {"GeoMMSemi": "geomm_semi", "GeoMMMultiSemi": "geomm_multi_semi"},
    "self_learning": {"ProcrustesSemi": "procrustes_semi", "SelfLearning": "self_learning"},
    "msf": {"MSF": "msf"},
    "meet_in_the_middle": {"MSFMu": "msf_mu", "MeetInTheMiddle": "meet_in_the_middle"},
    "gpa": {"GPA": "gpa"},
    "cca": {"CCA": "cca"},
    "rcsls": {"RCSLS": "rcsls"},
    "geomm_rcsls": {"GeoMMRCSLS": "geomm_rcsls"},
    "contrastive": {"Contrastive": "contrastive"},
    "geomm_unsup": {"GeoMMUnsup": "geomm_unsup"},
    "sl_unsup": {"SLUnsup": "sl_unsup"},
    "icp": {"ICP": "icp"},
    "wasserstein_procrustes": {"WassersteinProcrustes": "wasserstein_procrustes"},
    "umwe": {"UMWE": "umwe"},
    "adv_refine": {"AdvRefine": "adv_refine"},
    "unconstrained": {"Unconstrained": "unconstrained"},
    "regression": {"Regression": "regression"},
    "metric_only": {"MetricOnly": "metric_only"},
    "rotation_only": {"RotationOnly": "rotation_only"},
}
__getattr__ = names_of(__name__, _NAMES_IN)


@hookimpl
def register_mappers() -> Mapping[str, Callable[[], type[Mapper]]]:
    """The built-in mappers, each loaded when it is asked for."""
    classes = [own for module in _NAMES_IN.values() for own in module.items()]
    return {name: partial(__getattr__, class_name) for class_name, name in classes}

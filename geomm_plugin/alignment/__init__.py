"""[export] Aligned files: fit a mapper and write every language into the shared space."""

from geomm_plugin.alignment.inspection import Finding, check
from geomm_plugin.alignment.run import Alignment, align

__all__ = ["Alignment", "Finding", "align", "check"]

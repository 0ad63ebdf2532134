"""[export] Aligned files: fit a mapper and write every language into the shared space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of

if TYPE_CHECKING:
    from geomm_plugin.alignment.inspection import Finding, check
    from geomm_plugin.alignment.run import Alignment, align
    from geomm_plugin.alignment.space import aligned_space

__all__ = ["Alignment", "Finding", "align", "aligned_space", "check"]

__getattr__ = names_of(
    __name__,
    {
        "inspection": ("Finding", "check"),
        "run": ("Alignment", "align"),
        "space": ("aligned_space",),
    },
)

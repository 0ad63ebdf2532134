"""Pages and pictures: the report of a comparison, plots, the explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of

if TYPE_CHECKING:
    from geomm_plugin.views.explorer import explore

__all__ = ["explore"]

__getattr__ = names_of(__name__, {"explorer": ("explore",)})

"""A local page to look around in shared spaces: `geomm explore`."""

from geomm_plugin.views.explorer.explorer import Explorer
from geomm_plugin.views.explorer.server import ExplorerServer, explore

__all__ = ["Explorer", "ExplorerServer", "explore"]

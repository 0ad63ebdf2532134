"""A local page to look around in shared spaces: `geomm explore`."""

from geomm_plugin.views.explorer.explorer import Explorer
from geomm_plugin.views.explorer.opening import explore
from geomm_plugin.views.explorer.redirect_page import redirect_page
from geomm_plugin.views.explorer.server import ExplorerServer

__all__ = ["Explorer", "ExplorerServer", "explore", "redirect_page"]

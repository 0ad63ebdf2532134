"""A comparison as one web page that needs nothing else: `geomm compare --html report.html`."""

from geomm_plugin.views.report.page import make_page
from geomm_plugin.views.report.provenance import DataFile, Provenance

__all__ = ["DataFile", "Provenance", "make_page"]

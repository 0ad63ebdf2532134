"""A comparison as one web page that needs nothing else: `geomm compare --html report.html`."""

from geomm_plugin.views.report.page import make_page

__all__ = ["make_page"]

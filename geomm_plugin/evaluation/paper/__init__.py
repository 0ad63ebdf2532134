"""[evaluate] The tables of the GeoMM paper, made again: its numbers and ours."""

from geomm_plugin.evaluation.paper.data import PaperData, PaperFolder
from geomm_plugin.evaluation.paper.table import TableOfPaper, make_table

__all__ = ["PaperData", "PaperFolder", "TableOfPaper", "make_table"]

"""[evaluate] The tables of the GeoMM paper, made again: its numbers and ours."""

from geomm_plugin.evaluation.paper.cells import Cell, TableOfPaper
from geomm_plugin.evaluation.paper.data import PaperData, PaperFolder
from geomm_plugin.evaluation.paper.making import make_table

__all__ = ["Cell", "PaperData", "PaperFolder", "TableOfPaper", "make_table"]

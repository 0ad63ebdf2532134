"""[evaluate] The tables of the GeoMM paper, made again: its numbers and ours."""

from geomm_plugin.evaluation.paper.data import PaperFolder
from geomm_plugin.evaluation.paper.table import TableOfPaper, make_table

__all__ = ["PaperFolder", "TableOfPaper", "make_table"]

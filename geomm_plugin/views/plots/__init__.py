"""Pictures for papers, by matplotlib (the extra `plot`): `geomm plot`."""

from geomm_plugin.views.plots.curves import plot_learning_curve, plot_regularization
from geomm_plugin.views.plots.figure import save_figure
from geomm_plugin.views.plots.scores import plot_scores
from geomm_plugin.views.plots.space import plot_space

__all__ = [
    "plot_learning_curve",
    "plot_regularization",
    "plot_scores",
    "plot_space",
    "save_figure",
]

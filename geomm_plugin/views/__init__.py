"""Pages and pictures: the report of a comparison, plots, the explorer."""

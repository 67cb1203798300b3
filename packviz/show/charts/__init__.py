"""Charts of a trace and of its facts; packviz.charts has their names."""

"""Charts of a trace and of its facts, exported by packviz.charts."""

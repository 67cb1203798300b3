"""A trace and its facts made visible: the movie and its player, charts, tables, plain PyTorch code."""

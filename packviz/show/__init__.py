"""Visual output of a trace and its facts: the movie and its player, charts, plain PyTorch code."""

"""Ten questions on random batches, checked by PyTorch."""

from ui.lesson import apart

apart("Can you predict it?", "Ten questions on random batches, checked by PyTorch.")

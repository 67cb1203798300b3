"""Give a tensor and its lengths."""

from ui.lesson import apart

apart("What is wrong with my batch?", "Give a tensor and its lengths.")

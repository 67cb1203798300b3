"""Each answer is a small program, run just now."""

from ui.lesson import apart

apart("What do people ask about packing?", "Each answer is a small program, run just now.")

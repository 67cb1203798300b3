"""Padded beside packed: the movies of Compare, with the same module on both sides."""

"""Experiments that take time: what padding and packing cost, and whether padding hurts accuracy."""

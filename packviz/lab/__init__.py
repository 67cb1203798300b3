"""Experiments that take time: what padding and packing cost, and whether padding hurts accuracy."""

from pathlib import Path

from packviz.text import sentences

sentence = sentences(Path(__file__).with_name("lab.toml"))

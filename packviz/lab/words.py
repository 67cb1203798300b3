"""The sentences on experiments, written from the table lab.toml."""

from pathlib import Path

from packviz.text import sentences

sentence = sentences(Path(__file__).with_name("lab.toml"))

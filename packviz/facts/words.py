"""The sentences on facts, written from the table facts.toml."""

from pathlib import Path

from packviz.text import sentences

sentence = sentences(Path(__file__).with_name("facts.toml"))

"""Names: six-character codes of rooms, secrets, and friendly names for phones."""

from __future__ import annotations

import secrets
from collections.abc import Container

ALPHABET = "CDFGHJKMNPQRTWXY34679"  # no vowels, and none of those most often mistaken: 0 O, 1 I L, 2 Z, 5 S, 8 B, U V
_LENGTH = 6

_ADJECTIVES = (
    "amber", "azure", "blue", "brave", "bright", "bronze", "calm", "clever", "copper", "coral", "crimson", "eager",
    "early", "gentle", "golden", "green", "happy", "honest", "indigo", "ivory", "jolly", "keen", "kind", "lively",
    "lucky", "merry", "mighty", "nimble", "olive", "orange", "patient", "proud", "purple", "quick", "quiet", "ruby",
    "scarlet", "silver", "steady", "sunny", "swift", "teal", "violet", "wise",
)  # fmt: skip
_ANIMALS = (
    "badger", "beaver", "bison", "crane", "curlew", "deer", "dolphin", "dove", "eagle", "egret", "falcon", "finch",
    "fox", "gecko", "gull", "hare", "hawk", "hedgehog", "heron", "ibex", "ibis", "jay", "kestrel", "kite", "lark",
    "lemur", "lynx", "marten", "mole", "moose", "newt", "osprey", "otter", "owl", "panda", "pelican", "penguin",
    "plover", "puffin", "quail", "rabbit", "raven", "robin", "seal", "sparrow", "squirrel", "stork", "swallow",
    "swan", "swift", "tern", "thrush", "toad", "turtle", "whale", "wren",
)  # fmt: skip


def code() -> str:
    """Return a random room code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))


def secret() -> str:
    """Return a random token that nobody can guess."""
    return secrets.token_urlsafe(16)


def friendly(taken: Container[str]) -> str:
    """Return a random name such as "blue heron" that is not taken: there are twice as many as phones in a room."""
    while (name := f"{secrets.choice(_ADJECTIVES)} {secrets.choice(_ANIMALS)}") in taken:
        pass
    return name

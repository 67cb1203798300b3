"""Words and their endings: the letters of sequences, lists in prose, counts, articles."""

from collections.abc import Iterable, Sequence, Sized


def sequence_label(b: int) -> str:
    """Return the letter of sequence b: A to Z, then AA, AB and so on.

    >>> [sequence_label(b) for b in (0, 25, 26, 27, 701, 702)]
    ['A', 'Z', 'AA', 'AB', 'ZZ', 'AAA']
    """
    before, letter = divmod(b, 26)
    return (sequence_label(before - 1) if before else "") + chr(ord("A") + letter)


def letters(sequences: Iterable[int]) -> str:
    """Join the letters of some sequences into a phrase: "A", "A and B", "A, B and C"."""
    return joined([sequence_label(b) for b in sequences])


def joined(names: Sequence[str], most: int = 8, word: str = "and") -> str:
    """Join names into a phrase; beyond `most`, name the first and count the rest.

    >>> joined(["A", "B", "C"]), joined(["A", "B", "C"], most=1), joined(["A", "B"], word="or")
    ('A, B and C', 'A and 2 more', 'A or B')
    """
    more = [f"{len(names) - most} more"] if len(names) > most else []
    *head, last = [*names[:most], *more] or [""]
    return f"{', '.join(head)} {word} {last}" if head else last


def listed(items: Sequence[object], most: int = 4) -> str:
    """Join items with commas; beyond `most`, list the first and count the rest.

    >>> listed([5, 4, 3, 2, 1, 1])
    '5, 4, 3, 2 and 2 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(str(item) for item in items[:most]) + more


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def in_words(number: int, noun: str) -> str:
    """Return a count whose 1 is a word: "one token", "3 tokens"."""
    return f"one {noun}" if number == 1 else counted(number, noun)


def are(number: int | Sized) -> str:
    """Return "is" or "are", as the verb of so many things."""
    return agree(number, "is", "are")


def agree(number: int | Sized, one: str, several: str) -> str:
    """Return the words that agree with a number, or with how many things there are in a list.

    >>> agree(1, "looks like a pad", "look like pads")
    'looks like a pad'
    """
    return one if (number if isinstance(number, int) else len(number)) == 1 else several


def so_many(number: int | Sized, noun: str) -> str:
    """Return things after "the first", "the next" or "the last": "token", "3 tokens"."""
    count = number if isinstance(number, int) else len(number)
    return noun if count == 1 else counted(count, noun)


def with_article(noun: str) -> str:
    """Return the noun with its article: "a tensor", "an int", "an LSTM", "an ndarray"."""
    vowels = "AEFHILMNORSX" if noun[:2].isupper() else "aeioAEIO"  # initials are read out: an el, a gee
    return f"an {noun}" if noun[:1] in vowels or noun == "ndarray" else f"a {noun}"

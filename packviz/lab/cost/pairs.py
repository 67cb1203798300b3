"""What attention costs as counts: cells, and pairs of a query and a key, padded and in rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from torch import Tensor

from packviz.compute.fill import fill_rows
from packviz.errors import PackvizError
from packviz.lab.cost.counting import check_lengths
from packviz.validate import integer

__all__ = ["BLOCK", "MAX_ROW_LENGTHS", "MAX_ROW_TOKENS", "Pairs", "pairs_of", "pairs_verdict"]

BLOCK = 128  # FlexAttention's default: it skips blocks of this many queries and keys, or computes all of their pairs
MAX_ROW_LENGTHS, MAX_ROW_TOKENS = 10_000, 1_000_000  # filled in less than a second


@dataclass(frozen=True)
class Pairs:
    """What one way to run attention over all sequences costs, for one head of one layer.

    name      of the way
    cells     positions for which a query, a key and an output are computed
    computed  pairs of a query and a key whose score is computed
    needed    pairs of a token and one that it may read
    """

    name: str
    cells: int
    computed: int
    needed: int


def pairs_of(
    lengths: Tensor | Sequence[int], max_length: int, *, batch_size: int = 32, causal: bool = True
) -> tuple[Pairs, ...]:
    """Count cells and pairs of attention over sequences in four ways, each with the same pairs that are needed.

    padded         batches of batch_size sequences in the given order, each padded to its longest, with a dense mask
    concatenated   rows of max_length cells without a mask for the documents, so that all pairs of a row are computed;
                   what a token of another document adds is wrong
    masked, dense  the same rows with a mask of true and false: the pairs are computed, and then hidden
    masked, blocks the same rows in FlexAttention, which skips each block of 128 x 128 pairs that the mask hides

    The rows are filled longest first into the best fit; a longer sequence is cut, and counts as several documents
    in all four ways. Raises PackvizError for invalid sizes, for more than 10,000 lengths, and for more than a million
    tokens.
    """
    known = check_lengths(lengths).tolist()
    max_length = integer("max_length", max_length, 1)
    batch_size = integer("batch_size", batch_size, 1, fix="choose 1 or more")
    fix = "take a random sample of them"
    integer("lengths", len(known), 1, MAX_ROW_LENGTHS, what="a number of lengths", fix=fix)
    integer("lengths", sum(known), 1, MAX_ROW_TOKENS, what="a sum of lengths", fix=fix)
    if sum(known) > max_length * MAX_ROW_LENGTHS:
        expected, got = f"at most {MAX_ROW_LENGTHS:,} rows", f"{sum(known):,} tokens in rows of {max_length:,}"
        raise PackvizError("max_length", expected=expected, got=got, fix="choose longer rows")
    pieces = [length for whole in known for length in _cut(whole, max_length)]
    rows = fill_rows(known, max_length, "bfd_split").lengths
    needed = sum(length * (length + 1) // 2 if causal else length**2 for length in pieces)
    grids = [pieces[i : i + batch_size] for i in range(0, len(pieces), batch_size)]
    cells, dense = len(rows) * max_length, len(rows) * max_length**2
    return (
        Pairs(
            "padded",
            sum(len(grid) * max(grid) for grid in grids),
            sum(len(grid) * max(grid) ** 2 for grid in grids),
            needed,
        ),
        Pairs("concatenated", cells, dense, needed),
        Pairs("masked, dense", cells, dense, needed),
        Pairs("masked, blocks", cells, BLOCK**2 * sum(blocks(row, causal) for row in rows), needed),
    )


def pairs_verdict(found: Sequence[Pairs]) -> str:
    """Return what the counts of `pairs_of` say, in sentences, Markdown."""
    padded, _, dense, by_blocks = found
    fewer = "fewer" if dense.cells < padded.cells else "no fewer"
    lines = [
        f"Rows have {fewer} cells than the padded batches: {dense.cells:,} and {padded.cells:,}.",
        "**A dense mask saves nothing:** each of the "
        f"{dense.computed:,} pairs of the rows is computed, and those of two documents are hidden afterwards.",
    ]
    if by_blocks.computed < dense.computed:
        lines.append(
            f"FlexAttention skips blocks of {BLOCK} × {BLOCK} pairs that the mask hides completely, and computes "
            f"{by_blocks.computed:,}."
        )
    else:
        lines.append(
            f"FlexAttention skips only blocks of {BLOCK} × {BLOCK} pairs, and no block of these rows is hidden "
            "completely: it saves nothing either."
        )
    if padded.computed < by_blocks.computed:
        lines.append(f"The padded batches compute fewer pairs: {padded.computed:,}.")
        if by_blocks.cells < padded.cells:
            lines.append("Here rows save cells, which all other layers compute, but no pairs.")
    lines.append(
        "Attention that takes `cu_seqlens`, such as `varlen_attn`, needs no mask: it runs over each document alone, "
        f"which needs {by_blocks.needed:,} pairs."
    )
    return " ".join(lines)


def blocks(lengths: Sequence[int], causal: bool) -> int:
    """Return how many blocks of 128 x 128 hold a pair that a row of documents needs; pads after them need none."""
    starts = [0, *accumulate(lengths)]
    first, last = dict[int, int](), dict[int, int]()  # by block of queries, the blocks of keys at both ends
    for start, stop in pairwise(starts):
        low, high = start // BLOCK, (stop - 1) // BLOCK
        for block in range(low, high + 1):
            first.setdefault(block, low)  # the first document in the block reaches back the furthest
            last[block] = block if causal else high
    return sum(last[block] - first[block] + 1 for block in first)


def _cut(length: int, size: int) -> list[int]:
    whole, rest = divmod(length, size)
    return [size] * whole + [rest] * bool(rest)

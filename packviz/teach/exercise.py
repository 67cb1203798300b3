"""Pack it yourself: the cell of each packed row, the rows of each time step, and a reason for each mistake."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packviz.compute.record import Refusal, Trace
from packviz.text import sentences, sequence_label

MAX_TOKENS, MAX_SEQUENCES = 30, 9  # limits for packing by hand; a count of up to 9 takes one key

_say = sentences(Path(__file__).with_suffix(".toml"))


@dataclass(frozen=True)
class GridCell:
    """One cell of the padded grid."""

    b: int  # its sequence
    t: int  # its column
    text: str  # the token as typed; "" for a pad or a vector
    is_pad: bool  # whether it is padding
    name: str  # its description: "6 is C at t = 0"
    unpacked: str  # why torch never packs it; "" if it does


@dataclass(frozen=True)
class PackedRow:
    """One packed row."""

    cell: int  # its index among the cells of the grid
    found: str  # the message when it is found
    later: str  # why it comes before every cell of a later time step
    other: str  # why it comes before every other cell of its own time step


@dataclass(frozen=True)
class Size:
    """One of the batch_sizes, and the reply to each answer: said[i] to i + 1."""

    size: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Exercise:
    """What a visitor packs, and torch's result."""

    letters: tuple[str, ...]  # B, in sorted order: the rows of the grid
    cells: tuple[GridCell, ...]  # B * T, row after row
    rows: tuple[PackedRow, ...]  # N, in the order in which torch packed them
    sizes: tuple[Size, ...]  # T of them, batch_sizes
    start: str  # the first message
    back: str  # the message when a row is put back
    cleared: str  # the message when one of the sizes is cleared
    done: str  # the last message


def exercise(trace: Trace | Refusal) -> Exercise | None:
    """Return the exercise on a batch; None if it has too many tokens or sequences to pack by hand.

    Raises PackvizError if torch refused to pack the batch.
    """
    origins, order, sizes = trace.packed.origins, trace.packed.order, trace.packed.sizes
    N = len(origins)
    if N > MAX_TOKENS or len(order) > MAX_SEQUENCES:
        return None
    lengths, T = trace.padded.lengths.tolist(), trace.padded.mask.size(1)
    cells = tuple(_cell(trace, b, t) for b in order for t in range(T))
    places = {(cell.b, cell.t): i for i, cell in enumerate(cells)}
    live = [order[:size] for size in sizes]
    rows = []
    for n, (b, t) in enumerate(origins):
        place = places[b, t]
        found = "row.token" if cells[place].text else "row.pad" if cells[place].is_pad else "row.vector"
        done = ["row.all_found"] if n + 1 == N else ["row.complete"] * (b == live[t][-1])
        known = {"b": b, "t": t, "n": n, "N": N, "live": live[t], "text": cells[place].text}
        rows.append(
            PackedRow(place, *(_say(*keys, **known) for keys in ([found, *done], ["row.later"], ["row.other"])))
        )
    answers = range(1, len(order) + 1)
    said = ([_about_size(given, t, live, order, lengths) for given in answers] for t in range(len(sizes)))
    counts = tuple(Size(size, tuple(each)) for size, each in zip(sizes, said, strict=True))
    told = (_say(f"say.{key}", N=N, sizes=list(sizes)) for key in ("start", "back", "cleared", "done"))
    return Exercise(tuple(map(sequence_label, order)), cells, tuple(rows), counts, *told)


def _cell(trace: Trace | Refusal, b: int, t: int) -> GridCell:
    real, length = trace.padded.mask[b], int(trace.padded.lengths[b])
    texts = trace.texts[b] if trace.texts else ()
    is_pad = not real[t]
    text = texts[int(real[:t].sum())] if texts and not is_pad else ""
    name = _say("cell.name", what=text or ("This pad" if is_pad else "This"), b=b, t=t)
    why = "padding" if is_pad else "beyond"
    unpacked = _say(f"cell.{why}", name=name, b=b, t=t, length=length) if t >= length else ""
    return GridCell(b, t, text, is_pad, name, unpacked)


def _about_size(given: int, t: int, live: Sequence[Sequence[int]], order: Sequence[int], lengths: Sequence[int]) -> str:
    size, ended = len(live[t]), [b for b in order if b not in live[t]]
    named = {"given": given, "t": t, "after": t + 1, "size": size, "live": live[t], "ended": ended}
    if given == size:
        return _say("size.found", *["size.then"] * (t + 1 < len(live)), **named)
    if t < len(order) and given in (lengths[t], lengths[order[t]]):
        return _say("size.length", b=t if given == lengths[t] else order[t], **named)
    return _say("size.many" if given > size else "size.few", **named)

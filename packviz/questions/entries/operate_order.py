"""Entries: how does pack_padded_sequence function, on the order of the rows and the way back."""

from __future__ import annotations

from functools import partial

import torch

from packviz import charts
from packviz.batch import sequence_label
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP", "SOURCE"]

GROUP = "Text: how does pack_padded_sequence function?"
SOURCE = "How does PyTorch's pack_padded_sequence function operate?"

_BY_COLUMN = "columns = x[:, :, 0].t()  # time step by time step\ncolumns[columns != 0]"
_WIDE = "x = nn.functional.pad(x, (0, 0, 0, 5 - x.size(1)))  # T = 5\n"
_BACK = "back, _ = pad_packed_sequence(packed, batch_first=True)\nback.shape"
_STEPS = """\
steps = torch.arange(x.size(1)).expand(x.shape[:2])
packed = pack_padded_sequence(
    steps, lengths, batch_first=True, enforce_sorted=False
)
packed.data.tolist()"""
_LOOP = """\
output, h_n = gru(packed)
padded_output, _ = pad_packed_sequence(output, batch_first=True)
last = [padded_output[b, n - 1] for b, n in enumerate(lengths)]
torch.stack(last).detach()"""


def _data(laboratory: Laboratory) -> Outcome:
    believed, packed, x = laboratory.broken.value, laboratory.fixed["packed"], laboratory.fixed["x"][:, :, 0]
    rows, lengths = packed.data.flatten(), laboratory.fixed["lengths"]
    wrong = (believed != rows).nonzero().flatten().tolist()
    owners = [int((x == value).nonzero()[0, 0]) for value in believed]  # each number stands in the batch once
    return Outcome(
        {"for these lengths": torch.equal(believed, rows)},
        f"torch packs {[int(row) for row in rows]}. It sorts by length first, `sorted_indices` "
        f"{packed.sorted_indices.tolist()}, so each time step begins with the longest sequence. "
        f"In the text's list {len(wrong)} of the {len(rows)} rows differ.",
        picture(
            grid("x", x, lengths.tolist()),
            strip("packed.data", rows, owners_of(lengths)),
            strip("as in the text", believed, owners, wrong=wrong),
        ),
    )


def _sizes(laboratory: Laboratory) -> Outcome:
    sizes, lengths = laboratory.fixed.value, laboratory.fixed["lengths"]
    live = ", ".join(f"{size} at t = {t}" for t, size in enumerate(sizes))
    return Outcome(
        {"for these lengths": sizes == [3, 3, 2, 1]},
        f"`batch_sizes` {sizes} counts the sequences that still have a token: {live}. The lengths are "
        f"{lengths.tolist()}; both add up to {sum(sizes)}.",
        Chart(charts.margins, (laboratory.trace,)),
    )


def _reconstruction(laboratory: Laboratory) -> Outcome:
    left, right = laboratory.broken, laboratory.fixed
    x, back = left["x"][:, :, 0], left["back"][:, :, 0]
    lengths = left["lengths"].tolist()
    equal = torch.equal(right["back"], right["x"])
    lost = [(b, t) for b in range(len(x)) for t in range(back.size(1), x.size(1))]
    return Outcome(
        {"for the example of the text": torch.equal(left["back"], left["x"])},
        f"The input is {tuple(x.shape)}, what comes back is {tuple(back.shape)}: no wider than the longest sequence. "
        f"With `total_length={x.size(1)}` it is {'equal to' if equal else 'still other than'} the input.",
        picture(grid("x", x, lengths, wrong=lost), grid("back", back, lengths)),
    )


def _first_tokens(laboratory: Laboratory) -> Outcome:
    steps, packed = torch.tensor(laboratory.fixed.value), laboratory.run(PACK)["packed"]
    first = int(packed.batch_sizes[0])
    lengths = laboratory.fixed["lengths"]
    places = [(steps == t).nonzero().flatten() for t in range(int(lengths.max()))]
    return Outcome(
        {f"at time step {t}": bool((rows.diff() == 1).all()) for t, rows in enumerate(places)},
        f"The rows have the time steps {steps.tolist()}: the {first} first tokens stand together, then the second "
        f"ones. The text leaves out that within a step the order is by length: "
        f"{', '.join(sequence_label(b) for b in packed.sorted_indices.tolist())}.",
        picture(
            strip("packed.data", packed.data, owners_of(lengths)),
            strip("time step of each row", steps, owners_of(lengths)),
        ),
    )


def _last_loop(laboratory: Laboratory) -> Outcome:
    h_n, read = laboratory.fixed["h_n"].detach(), laboratory.fixed.value
    ways = 2 if laboratory.fixed["gru"].bidirectional else 1
    wanted = torch.cat(h_n[-ways:].unbind(0), 1)
    naive = laboratory.broken.value
    rows = [sequence_label(b) for b in range(len(read))]
    wrong = [(b, i) for b in range(len(read)) for i in range(read.size(1)) if naive[b, i] != wanted[b, i]]
    return Outcome(
        {f"for {row}": torch.equal(read[b], wanted[b]) for b, row in enumerate(rows)},
        f"The loop reads `padded_output[b, lengths[b] - 1]`; that and `h_n` differ by "
        f"{float((read - wanted).abs().max()):.1g}. `h_n[-1]` needs no loop, and with `bidirectional=True` the "
        "backward half is in `h_n` only.",
        picture(
            numbers("by the loop", read, rows=rows),
            numbers("h_n", wanted, rows=rows),
            numbers("[:, -1]", naive, rows=rows, wrong=wrong),
        ),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="operate-data",
        question="Is packed.data (1, 4, 6, 2, 5, 7, 3, 8, 9) for the lengths 3, 2, 4?",
        claim="For lengths 3, 2, 4 with `enforce_sorted=False`, `data` is 1, 4, 6, 2, 5, 7, 3, 8, 9.",
        broken=_BY_COLUMN,
        fixed=PACK + "packed.data.flatten()",
        experiment=_data,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
    _Claim(
        key="operate-batch-sizes",
        question="Are the batch_sizes of the lengths 3, 2, 4 really 3, 3, 2, 1?",
        claim="The `batch_sizes` of the lengths 3, 2, 4 are 3, 3, 2, 1.",
        broken="sorted(lengths.tolist(), reverse=True)",
        fixed=PACK + "packed.batch_sizes.tolist()",
        experiment=_sizes,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
    _Claim(
        key="operate-reconstruction",
        question="Does pad_packed_sequence give back the original input?",
        claim="The reconstruction matches the original input.",
        broken=_WIDE + PACK + _BACK,
        fixed=_WIDE + PACK + _BACK.replace("packed, batch_first=True", "packed, True, total_length=x.size(1)"),
        experiment=_reconstruction,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
    _Claim(
        key="operate-first-tokens",
        question="Does packing put all first tokens side by side?",
        claim="The rows are reordered so that all first tokens are contiguous, then all second ones.",
        broken="torch.cat(sequences)",
        fixed=_STEPS,
        experiment=_first_tokens,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
    _Claim(
        key="operate-last-loop",
        question="Is the loop over lengths[i] - 1 a right way to get the last elements?",
        claim="A loop that reads the output at `lengths[i] - 1` gives each last state.",
        broken=PACK + _LOOP.replace("b, n - 1]", "b, -1]"),
        fixed=PACK + _LOOP,
        experiment=_last_loop,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
)

"""Entries: variable sequence lengths."""

from __future__ import annotations

from packviz.config import Config
from packviz.questions.entries.marking import differing, letters, same
from packviz.questions.entries.variable_lengths_listing import LISTING
from packviz.questions.entries.variable_lengths_order import ORDER, PACK
from packviz.questions.entries.variable_lengths_padding import GROUP, PADDING, SOURCE
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import numbers, picture

__all__ = ["ENTRIES", "GROUP"]

_SUM = """H = gru.hidden_size
output = gru(packed)[0].data.detach()
x = output[:, :H] + output[:, H:]
"""
_PADDED_REAL = """output, h_n = gru(x)
output = pack_padded_sequence(output, lengths, batch_first=True,
    enforce_sorted=False)
"""


def _needs_packed(laboratory: Laboratory) -> Outcome:
    plain = {kind: laboratory.run(f"nn.{kind}(1, 4, batch_first=True)(x)[0].shape") for kind in ("RNN", "GRU", "LSTM")}
    packed, read = laboratory.broken.value, laboratory.fixed.value
    padded = laboratory.run("gru(x)[1][0].detach()").value
    shape = laboratory.run("gru(x)[0].shape").value
    wrong = differing(padded, packed)
    return Outcome(
        {f"for nn.{kind}": run.error is not None for kind, run in plain.items()},
        f"A padded tensor runs as well: `gru(x)` returned an output of shape {tuple(shape)}. What differs is `h_n`: "
        f"of {len({row for row, _ in wrong})} of the {len(padded)} sequences it is a state after pads. Read the output "
        "at `lengths - 1`, as the second program does, or pack when you want `h_n`.",
        picture(
            numbers("h_n, packed", packed, rows=letters(packed)),
            numbers("h_n of gru(x)", padded, rows=letters(padded), wrong=wrong),
            numbers("at lengths - 1", read, rows=letters(read), wrong=differing(read, packed)),
        ),
    )


def _halves(laboratory: Laboratory) -> Outcome:
    summed, mapped, meant = laboratory.broken["output"], laboratory.broken["mapped"], laboratory.fixed["mapped"]
    low, high = laboratory.broken.value
    wrong = [(int(i), int(j)) for i, j in ((mapped < 0) | (mapped > 1)).nonzero().tolist()]
    return Outcome(
        {"for this batch": not wrong},
        f"One direction of a GRU stays between −1 and 1, here {summed.min():.2f} to {summed.max():.2f}. The sum of two "
        f"lies between −2 and 2, so `(x + 1) / 2` lies between −0.5 and 1.5, here {low:.2f} to {high:.2f}. "
        f"`(x / 2 + 1) / 2` stays inside, here {meant.min():.2f} to {meant.max():.2f}.".replace("-", "−"),
        picture(numbers("(x + 1) / 2", mapped, wrong=wrong), numbers("(x / 2 + 1) / 2", meant)),
    )


def _not_necessary(laboratory: Laboratory) -> Outcome:
    def agrees(settings: str, ending: str) -> bool:
        gru = f"gru = nn.GRU(1, 4, batch_first=True{settings})\n"
        packed = laboratory.run(gru + PACK + "output, h_n = gru(packed)\n" + ending).value
        padded = laboratory.run(gru + PACK + _PADDED_REAL + ending).value
        return same(packed, padded)

    h_n, right = laboratory.broken.value, laboratory.fixed.value
    return Outcome(
        {
            "for the output of the tokens, in one direction": agrees("", "output.data"),
            "for h_n, in one direction": agrees("", "h_n"),
            "for the output of the tokens, in both directions": agrees(", bidirectional=True", "output.data"),
        },
        f"In one direction pads come after the tokens and cannot change them: a loss that leaves the pads out needs no "
        f"packing. `h_n` needs it: without, it is up to {float((h_n - right).abs().max()):.2f} away. So does the "
        "backward direction, which reads the pads first.",
    )


_NEEDED: tuple[Entry, ...] = (
    Entry(
        key="variable-needs-packed",
        group=GROUP,
        question="Does an RNN in PyTorch require a PackedSequence?",
        claim="An RNN in PyTorch takes a PackedSequence instead of a Tensor.",
        broken=PACK + "gru(packed)[1][0].detach()",
        fixed="output, _ = gru(x)\noutput[torch.arange(len(lengths)), lengths - 1].detach()",
        experiment=_needs_packed,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="variable-not-necessary",
        group=GROUP,
        question='Packing is "usually not necessary": when is it?',
        claim="Packing is not necessary: the padded batch gives the same.",
        broken="gru(x)[1][0].detach()",
        fixed=PACK + "gru(packed)[1][0].detach()",
        experiment=_not_necessary,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
        film=Film("beside"),
    ),
)
_SUMMED: tuple[Entry, ...] = (
    Entry(
        key="variable-halves",
        group=GROUP,
        question="What does x = (x + 1) / 2 do to the sum of both directions?",
        claim="`x = (x + 1) / 2` brings the sum of both directions into 0 to 1.",
        broken=PACK + _SUM + "mapped = (x + 1) / 2\ntorch.stack(mapped.aminmax())",
        fixed=PACK + _SUM + "mapped = (x / 2 + 1) / 2\ntorch.stack(mapped.aminmax())",
        experiment=_halves,
        source=SOURCE,
        batch="40 60\n-90\n50 80 90",
        config=Config(hidden_size=2, bidirectional=True, seed=2),
    ),
)
ENTRIES: tuple[Entry, ...] = (*_NEEDED, *ORDER, *PADDING, *_SUMMED, *LISTING)

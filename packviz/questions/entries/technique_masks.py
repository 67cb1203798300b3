"""Entries: the pack and pad technique, which state is taken and what masks do."""

from __future__ import annotations

import torch

from packviz.questions.entries.marking import differing, letters, same
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, picture

__all__ = ["BATCH", "GROUP", "MASKS", "PACK", "SOURCE"]

GROUP = "Text: the pack and pad technique"
SOURCE = "Pack, Pad Sequence technique in pytorch (torch 1.4, in Korean)"
BATCH = "1 2\n3\n4 5 6 7"
PACK = "packed = pack_padded_sequence(x, lengths, batch_first=True,\n    enforce_sorted=False)\n"

_UNPACKED = (
    PACK + "output, h_n = gru(packed)\nhs, _ = pad_packed_sequence(output, batch_first=True)\nhs = hs.detach()\n"
)
_MASK = "mask = torch.arange(x.size(1)) == (lengths - 1)[:, None]\n"
_REPEATED = "mask = mask.unsqueeze(-1).repeat(1, 1, 5)\nhs[mask].view(len(lengths), 5)"


def _last_step(laboratory: Laboratory) -> Outcome:
    output, h_n = (laboratory.broken[name].detach() for name in ("output", "h_n"))
    after_tokens = laboratory.fixed.value
    wrong = differing(h_n[0], after_tokens)
    lengths, T = laboratory.broken["lengths"].tolist(), output.size(1)
    read = ", ".join(f"{name} after {T - length}" for name, length in zip(letters(h_n[0]), lengths, strict=True))
    return Outcome(
        {"for the padded batch": same(output[:, -1], h_n[0])},
        f"Padded, every row takes {T} time steps, and `h_n` is the state after the last of them: {read} pads. That is "
        f"up to {float((h_n[0] - after_tokens).abs().max()):.2f} away from the state after the last token. Pack, and "
        "`h_n` is the state after the last token.",
        picture(
            numbers("h_n of gru(x)", h_n[0], rows=letters(h_n[0]), wrong=wrong),
            numbers("h_n of gru(packed)", after_tokens, rows=letters(after_tokens)),
        ),
    )


def _mask_type(laboratory: Laboratory) -> Outcome:
    mask, lengths = laboratory.fixed["mask"], laboratory.fixed["lengths"].tolist()
    after, assigned = laboratory.broken.value, laboratory.fixed.value
    return Outcome(
        {"for the mask afterwards": after == torch.float32},
        f"`mask.type(dtype)` returns a new tensor and leaves `mask` as it is: `mask.dtype` is `{after}` afterwards. "
        f"With `mask = mask.type(dtype)` it is `{assigned}`. To pick states a `torch.bool` mask is the right one.",
        picture(grid("mask", mask, lengths)),
    )


def _view_h(laboratory: Laboratory) -> Outcome:
    cases = {}
    for H in (5, 4):
        settings = f"gru = nn.GRU({laboratory.trace.padded.values.size(-1)}, {H}, batch_first=True)\n"
        taken = laboratory.run(settings + laboratory.entry.broken)
        wanted = laboratory.run(settings + laboratory.entry.fixed)
        cases[f"with hidden_size={H}"] = taken.error is None and same(taken.value, wanted.value)
    H, picked, h_n = laboratory.entry.config.hidden_size, laboratory.fixed.value, laboratory.fixed["h_n"].detach()[0]
    agree = "the same" if same(picked, h_n) else "not the same"
    mask = laboratory.run(_MASK + "mask.int()").value
    return Outcome(
        cases,
        f"The 5 is the text's own hidden size, written into the mask; here H is {H}. "
        f"`hs[torch.arange(len(lengths)), lengths - 1]` needs no H and no mask, and is {agree} as `h_n[0]`.",
        picture(
            grid("mask", mask, laboratory.fixed["lengths"].tolist()),
            numbers("hs at lengths - 1", picked, rows=letters(picked)),
        ),
    )


def _zeros_at_pads(laboratory: Laboratory) -> Outcome:
    unpacked, padded = laboratory.fixed.value, laboratory.broken.value
    pads = ~laboratory.trace.padded.mask
    places = [(int(b), int(t)) for b, t in pads.nonzero().tolist()]
    filled = laboratory.run(_UNPACKED.replace("batch_first=True)\nhs =", _MINUS_ONE) + "hs[..., 0]").value[pads]
    return Outcome(
        {"for the unpacked output": bool((unpacked[pads] == 0).all())},
        f"All {len(places)} pads are {_range(unpacked[pads])} after unpacking. That is filler: with "
        f"`padding_value=-1.0` they are {_range(filled)}. No RNN has computed it; the padded run has "
        f"{_range(padded[pads])} there. Mask the pads by `lengths`, not by looking for zeros.",
        picture(
            numbers("unit 0, gru(x)", padded, rows=letters(padded), wrong=places),
            numbers("unit 0, unpacked", unpacked, rows=letters(unpacked)),
        ),
    )


def _range(values: torch.Tensor) -> str:
    low, high = (f"{value:.2f}".replace("-", "−") for value in (values.min().item(), values.max().item()))
    return low if low == high else f"{low} to {high}"


_MINUS_ONE = "batch_first=True,\n    padding_value=-1.0)\nhs ="

MASKS: tuple[Entry, ...] = (
    Entry(
        key="technique-last-step",
        group=GROUP,
        question="Without packing, is h always the state of the last time step?",
        claim="Without packing, `h` is the state of the last time step in every row.",
        broken="output, h_n = gru(x)\nh_n[0].detach()",
        fixed=PACK + "output, h_n = gru(packed)\nh_n[0].detach()",
        experiment=_last_step,
        source=SOURCE,
        batch=BATCH,
    ),
    Entry(
        key="technique-mask-type",
        group=GROUP,
        question="Does mask.type(dtype) change the mask?",
        claim="`mask.type(dtype)` gives the mask another type.",
        broken=_MASK + "mask.type(torch.float32)\nmask.dtype",
        fixed=_MASK + "mask = mask.type(torch.float32)\nmask.dtype",
        experiment=_mask_type,
        source=SOURCE,
        batch=BATCH,
    ),
    Entry(
        key="technique-repeated-mask",
        group=GROUP,
        question="Can mask.unsqueeze(-1).repeat(1, 1, 5) pick the last valid states?",
        claim="The mask repeated 5 times picks the last valid state of every row.",
        broken=_UNPACKED + _MASK + _REPEATED,
        fixed=_UNPACKED + "hs[torch.arange(len(lengths)), lengths - 1]",
        experiment=_view_h,
        source=SOURCE,
        messages=(
            "IndexError: The shape of the mask [3, 4, 5] at index 2 does not match the shape of the indexed tensor "
            "[3, 4, 4] at index 2",
        ),
        batch=BATCH,
    ),
    Entry(
        key="technique-zeros-at-pads",
        group=GROUP,
        question="Why is the unpacked output 0 at the pads?",
        claim="Packed and unpacked, the output is 0 at the pads.",
        broken="output, _ = gru(x)\noutput[..., 0].detach()",
        fixed=_UNPACKED + "hs[..., 0]",
        experiment=_zeros_at_pads,
        source=SOURCE,
        batch=BATCH,
    ),
)

"""Entries: variable sequence lengths, the text's listing line by line."""

from __future__ import annotations

from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.entries.marking import letters, same
from packviz.questions.entries.variable_lengths_padding import GROUP, SOURCE
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import numbers, owners_of, picture, strip

__all__ = ["LISTING"]

_TARGETS = """i = lengths.argsort(descending=True)
targets, target_lens = x.roll(1, 0)[i], lengths.roll(1)[i]
"""
_SORTED_AGAIN = "packed = pack_padded_sequence(targets, target_lens, batch_first=True, enforce_sorted=False)"
_BRANCH = """use_cuda = torch.cuda.is_available()
if use_cuda:
    gru, x = gru.cuda(), x.cuda()
gru(x)[0].device"""
_CHOICE = 'device = torch.accelerator.current_accelerator() or "cpu"\n'
_MOVED = "gru, x = gru.to(device), x.to(device)\ngru(x)[0].device"
_DAMAGED = ("rnn_outputs =, 0)", "self.gru = torch.nn.GRU(512, 256, 2,")


def _targets_order(laboratory: Laboratory) -> Outcome:
    sorted_again = laboratory.run(_TARGETS + _SORTED_AGAIN)
    packed, names = sorted_again["packed"], sorted_again.names
    given = names["i"].tolist()
    row_of = dict(enumerate(given))
    inputs = owners_of(names["lengths"])
    targets = [row_of[row] for row in owners_of(names["target_lens"])]
    apart = [n for n, (one, other) in enumerate(zip(inputs, targets, strict=True)) if one != other]
    x = laboratory.run("pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False).data").value
    order = packed.sorted_indices.tolist()
    return Outcome(
        {
            "with enforce_sorted=True": laboratory.broken.error is None,
            "with enforce_sorted=False": order == list(range(len(given))),
        },
        f"In the order of the inputs' lengths the targets have the lengths {names['target_lens'].tolist()}. "
        f"`enforce_sorted=False` puts them in the order {order} once more, and then {len(apart)} of {len(inputs)} "
        "packed rows belong to different sequences. Leave the targets padded, and mask them by "
        "`target_lens`.",
        picture(strip("packed inputs", x, inputs), strip("packed targets", packed.data, targets, wrong=apart)),
    )


def _wrapper(laboratory: Laboratory) -> Outcome:
    wrapped, plain = laboratory.broken.value, laboratory.fixed.value
    run = laboratory.run("gru(x)[0].shape")
    kind = laboratory.run("from torch.autograd import Variable\ntype(Variable(x)).__name__").value
    agree = plain is not None and same(wrapped, plain)
    return Outcome(
        {"for a run": run.error is not None, "for a gradient": not agree},
        f"`type(Variable(x))` is `{kind}`: since 0.4 there is nothing to wrap. Both programs return "
        f"{'the same gradients' if agree else 'other gradients'}. Call `x.requires_grad_()` where a gradient of `x` is "
        "wanted.",
        picture(
            numbers("x.grad, with Variable", wrapped, rows=letters(wrapped)),
            numbers("x.grad, without", plain, rows=letters(plain)),
        ),
    )


def _cuda_flag(laboratory: Laboratory) -> Outcome:
    here = str(laboratory.fixed.value)
    devices = dict.fromkeys(("cpu", "meta", here))
    runs = {device: laboratory.run(_MOVED, device=device) for device in devices}
    shown = tuple((str(run["x"].device), str(run["gru"].weight_ih_l0.device), str(run.value)) for run in runs.values())
    return Outcome(
        {f"for the device {device}": run.error is not None for device, run in runs.items()},
        f"The same two lines with `.to(device)` ran on {', '.join(f'`{device}`' for device in devices)}. "
        f"`torch.accelerator.current_accelerator()` finds a device that is no CUDA device, too. Only `lengths` stay "
        "on the CPU.",
        picture(Panel("where each is", shown, rows=tuple(" " for _ in shown), columns=("x", "gru", "output"))),
    )


def _listing(laboratory: Laboratory) -> Outcome:
    said = {line: laboratory.run(f'compile("{line}", "listing", "exec")').error for line in _DAMAGED}
    return Outcome(
        {f"for the line {line}": error is None for line, error in said.items()},
        " ".join(f"`{line}`: {error or 'runs'}." for line, error in said.items())
        + f" Text was lost there. With both brackets closed again, a GRU of 2 layers and 2 directions returns "
        f"{tuple(laboratory.fixed.value)}: 2 × 256 numbers a token.",
    )


LISTING: tuple[Entry, ...] = (
    Entry(
        key="variable-targets-order",
        group=GROUP,
        question="Inputs sorted by length, targets in the same order: can the targets be packed?",
        claim="Targets in the order of the inputs' lengths can be packed without sorting them again.",
        broken=_TARGETS + "pack_padded_sequence(targets, target_lens, batch_first=True)",
        fixed=_TARGETS + "mask = torch.arange(targets.size(1)) < target_lens[:, None]\ntargets[mask].flatten()",
        experiment=_targets_order,
        source=SOURCE,
        messages=(
            "RuntimeError: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
            "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
            "you do not need ONNX exportability.",
        ),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="variable-wrapper",
        group=GROUP,
        question="Must a tensor be wrapped in Variable?",
        claim="A tensor must be wrapped in `Variable` before it goes into a module.",
        broken="from torch.autograd import Variable\nx = Variable(x, requires_grad=True)\n"
        "gru(x)[0].sum().backward()\nx.grad[..., 0]",
        fixed="x.requires_grad_()\ngru(x)[0].sum().backward()\nx.grad[..., 0]",
        experiment=_wrapper,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="variable-cuda-flag",
        group=GROUP,
        question="Is a flag for .cuda() still the way to choose the device?",
        claim="Each device needs a branch of its own, such as `if use_cuda: x = x.cuda()`.",
        broken=_BRANCH,
        fixed=_CHOICE + _MOVED,
        experiment=_cuda_flag,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
        slow=True,  # torch loads much code when it first meets the device "meta"
    ),
    Entry(
        key="variable-listing",
        group=GROUP,
        question="Why does the listing with `rnn_outputs =, 0)` not run?",
        claim="The text's listing runs as it is printed.",
        broken=f'compile("{_DAMAGED[0]}", "listing", "exec")',
        fixed="gru = nn.GRU(1, 256, 2, batch_first=True, bidirectional=True)\n"
        "rnn_outputs = torch.cat(gru(x)[0].split(1, 0), 0)\nrnn_outputs.shape",
        experiment=_listing,
        source=SOURCE,
        messages=(
            "SyntaxError: unmatched ')' (listing, line 1)",
            "SyntaxError: '(' was never closed (listing, line 1)",
        ),
        batch="1 2\n3\n4 5 6",
        config=Config(hidden_size=2, num_layers=2, bidirectional=True),
        film=Film("run"),
    ),
)

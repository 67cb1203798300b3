"""Entries: on which device the lengths must be, and in which shape."""

from __future__ import annotations

from packviz.charts import Panel
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "The lengths"

_AWAY = 'away = x.to("meta")  # as x.to("cuda") where there is a GPU\n'
_UNSORTED = "packed = pack_padded_sequence(\n    away, lengths, batch_first=True, enforce_sorted=False\n)\n"
_ONE_ROW = "'lengths' argument should be a 1D CPU int64 tensor, but got"


def _on_the_gpu(laboratory: Laboratory) -> Outcome:
    here = laboratory.run('pack_padded_sequence(x, lengths.to("meta"), batch_first=True)')
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    everyone = list(range(len(lengths)))
    refused = everyone if laboratory.broken.error else []
    return Outcome(
        {"for x on that device": laboratory.broken.error is None, "for x on the CPU": here.error is None},
        f"The meta device stands in for a GPU here, and torch says `{laboratory.broken.error}`. On a GPU the message "
        "names `cuda:0` (cited, not run here). Only `lengths` must be on the CPU: give `lengths.cpu()` or a list, and "
        f"leave `x` where it is. Then `batch_sizes` are {laboratory.fixed.value.tolist()}.",
        picture(
            grid(f"x on meta: {_met(laboratory.fixed)}", x, lengths.tolist()),
            strip(f"lengths on meta: {_met(laboratory.broken)}", lengths, everyone, wrong=refused),
            strip(f"lengths on the CPU: {_met(laboratory.fixed)}", lengths, everyone),
        ),
    )


def _met(done: Program) -> str:
    return "refused" if done.error else "accepted"


def _two_devices(laboratory: Laboratory) -> Outcome:
    asked = "packed.data.device, packed.batch_sizes.device, packed.sorted_indices.device"
    sorting = laboratory.run(_AWAY + _UNSORTED + asked)
    ordered = laboratory.run(_AWAY + "pack_padded_sequence(away, lengths.sort(descending=True).values, True)")
    twin = laboratory.run("pack_padded_sequence(x, lengths, True, enforce_sorted=False)").value
    data, sizes, indices = (device.type for device in sorting.value)
    return Outcome(
        {
            "with enforce_sorted=False": sorting.error is not None,
            "with enforce_sorted=True": ordered.error is not None,
        },
        f"With `x` on {data}, which stands in for a GPU here, and `lengths` on the CPU, packing works: `data` is on "
        f"{data}, `sorted_indices` on {indices}, and `batch_sizes` stay on the {sizes.upper()}. But the GRU must be "
        f"where `data` is, else torch says `{laboratory.broken.error}`. What a GPU says is cited, not run here.",
        picture(
            strip(f"data: {data}", twin.data, owners_of(laboratory.fixed["lengths"])),
            strip(f"sorted_indices: {indices}", twin.sorted_indices, twin.sorted_indices.tolist()),
            strip(f"batch_sizes: {sizes}", twin.batch_sizes, [None] * len(twin.batch_sizes)),
        ),
    )


def _two_dimensions(laboratory: Laboratory) -> Outcome:
    column, sorting = (
        laboratory.broken["column"],
        laboratory.run("pack_padded_sequence(x, lengths[:, None], True, False)"),
    )
    everyone = list(range(len(column)))
    upright = Panel(
        f"column: {tuple(column.shape)}",
        tuple((f"{length}",) for length in column.flatten().tolist()),
        tuple((b,) for b in everyone),
        wrong=frozenset((b, 0) for b in everyone),
    )
    flat = laboratory.fixed["flat"]
    return Outcome(
        {
            "with enforce_sorted=True": laboratory.broken.error is None,
            "with enforce_sorted=False": sorting.error is None,
        },
        f"Torch wants one row of {len(flat)} lengths, of the shape {tuple(flat.shape)}. A column of the shape "
        f"{tuple(column.shape)} is {_met(laboratory.broken)}, and with `enforce_sorted=False` the words are others: "
        f"`{sorting.error}`. Drop the second axis with `squeeze(-1)`.",
        picture(upright, strip(f"column.squeeze(-1): {tuple(flat.shape)}", flat, everyone)),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="lengths-on-the-gpu",
        group=GROUP,
        question="'lengths' argument should be a 1D CPU int64 tensor: must it leave the GPU?",
        claim="`lengths` may be on a device other than the CPU.",
        broken=_AWAY + 'pack_padded_sequence(away, lengths.to("meta"), batch_first=True)',
        fixed=_AWAY + "pack_padded_sequence(away, lengths.cpu(), batch_first=True).batch_sizes",
        experiment=_on_the_gpu,
        source="pytorch/pytorch issue 43227; fairseq issue 3557; ParlAI issue 2910; sentence-transformers issue 933",
        rows=(20,),
        messages=(f"RuntimeError: {_ONE_ROW} 1D meta Long tensor", f"RuntimeError: {_ONE_ROW} 1D cuda:0 Long tensor"),
        batch="1 2 3\n4 5\n6",
    ),
    Entry(
        key="lengths-on-the-cpu-alone",
        group=GROUP,
        question="With lengths.cpu(), torch wants all tensors on the same device: unsolvable?",
        claim="With `lengths` on the CPU, `x` must be on the CPU as well.",
        broken=_AWAY + _UNSORTED + "gru(packed)",
        fixed=_AWAY + _UNSORTED + 'output, h_n = gru.to("meta")(packed)\nh_n.device, packed.batch_sizes.device',
        experiment=_two_devices,
        source="pytorch/pytorch issue 108246",
        rows=(21,),
        messages=(
            "RuntimeError: Tensor on device cpu is not on the expected device meta!",
            "RuntimeError: Input and parameter tensors are not at the same device, found input tensor at cuda:0 and "
            "parameter tensor at cpu",
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
            "cpu and cuda:0! (when checking argument for argument index in method wrapper_CUDA__index_select)",
        ),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="lengths-in-a-column",
        group=GROUP,
        question="but got 2D cpu Long tensor: what is wrong with my lengths?",
        claim="`lengths` may have the shape (B, 1).",
        broken="column = lengths.unsqueeze(-1)  # (B, 1)\npack_padded_sequence(x, column, batch_first=True)",
        fixed="column = lengths.unsqueeze(-1)  # (B, 1)\nflat = column.squeeze(-1)  # (B,)\n"
        "pack_padded_sequence(x, flat, batch_first=True).batch_sizes",
        experiment=_two_dimensions,
        source="packviz, own experiment",
        rows=(22,),
        messages=(
            f"RuntimeError: {_ONE_ROW} 2D cpu Long tensor",
            "IndexError: index_select(): Index is supposed to be a vector",
        ),
        batch="1 2 3\n4 5\n6",
    ),
)

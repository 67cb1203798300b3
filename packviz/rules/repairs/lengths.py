"""Repairs of x, its lengths and its pads.

Each function returns the program for a case; what it takes by name are the fields of the fault, such as `pad` as code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packviz.rules.repairs.program import IMPORT_BOTH, IMPORT_PACK, RUN_PACKED, TURN, on_data, program, turn

if TYPE_CHECKING:
    from packviz.rules.case import Case


def _names(case: Case) -> list[str]:
    return ["x"] if case.ids is None else ["x", "ids"]


def _real(pad: str) -> str:
    """Return the code of a mask (B, T) of `grid`: False at steps that are just the pad."""
    value = f"float('{pad}')" if pad in ("inf", "-inf") else pad
    unequal = "~grid.isnan()" if pad == "nan" else f"(grid != {value})"
    return f"{unequal}.reshape(*grid.shape[:2], -1).any(-1)"


def count_again(case: Case, *, pad: str | None = None, **_: Any) -> str:
    """Count the steps up to the last one that is not a pad."""
    if pad is None:
        pad = str(case.padding_value or 0)
    return program(
        "import torch",
        "",
        f"grid = {_names(case)[-1]}{turn(case)}  # (B, T) or (B, T, F)",
        f"real = {_real(pad)}  # (B, T): False at the pads",
        "steps = torch.arange(1, real.size(1) + 1, device=real.device)",
        "lengths = (real * steps).amax(1).clamp(min=1).cpu()  # up to the last step that is not a pad",
    )


def count_packed_again(case: Case, *, pad: str, **_: Any) -> str:
    """Count the packed steps up to the last one that is not a pad, and pack again."""
    if case.packed is None:
        return count_again(case, pad=pad)
    return program(
        "import torch",
        IMPORT_BOTH,
        "",
        "grid, ends = pad_packed_sequence(packed, batch_first=True)",
        "packed_steps = (torch.arange(grid.size(1)) < ends[:, None]).to(grid.device)",
        f"real = packed_steps & {_real(pad)}  # (B, T): False at the pads",
        "lengths = (real * torch.arange(1, real.size(1) + 1, device=real.device)).amax(1).clamp(min=1).cpu()",
        "packed = pack_padded_sequence(grid, lengths, batch_first=True, enforce_sorted=False)",
    )


def shift_to_the_left(case: Case, *, pad: str, **_: Any) -> str:
    """Move the pads from before each sequence to its end."""
    turned, names = turn(case), _names(case)
    moved = [
        f"rows = zip({name}{turned}, before.tolist(), strict=True)\n"
        f"{name} = torch.stack([row.roll(-pads, 0) for row, pads in rows]){turned}"
        for name in names
    ]
    return program(
        "import torch",
        "",
        f"grid = {names[-1]}{turned}  # (B, T) or (B, T, F)",
        f"real = {_real(pad)}",
        "before = real.int().argmax(1)  # pads before each sequence",
        "lengths = (real.size(1) - before).cpu()",
        *moved,
    )


def count_and_pack(case: Case, *, pad: str, **_: Any) -> str:
    """Count the steps, and run the packed sequences."""
    return program(count_again(case, pad=pad), IMPORT_PACK, "", f"{RUN_PACKED}  # run this, not x")


def shift_and_pack(case: Case, *, pad: str, **_: Any) -> str:
    """Move the pads to the ends, and run the packed sequences."""
    return program(shift_to_the_left(case, pad=pad), IMPORT_PACK, "", f"{RUN_PACKED}  # run this, not x")


def turn_layout(case: Case, **_: Any) -> str:
    """Read x with the other layout."""
    if case.module is not None:
        return f"x = x{TURN}  # to the layout of the module's batch_first"
    return f"batch_first = {not case.batch_first}"


def make_two_dimensional(case: Case, **_: Any) -> str:
    """Read x as one sequence."""
    return f"x = x.reshape(-1).unsqueeze({1 - case.steps_axis})  # one sequence"


def give_full_lengths(case: Case, **_: Any) -> str:
    """Set every length to T."""
    return f"lengths = [{case.T}] * {case.B}  # if nothing is padded"


def copy_lengths(case: Case, **_: Any) -> str:
    """Copy the lengths to the CPU."""
    if case.lengths_tensor.device.type == "meta":
        return f"lengths = [{case.T}] * {case.B}  # a meta tensor holds no numbers: put the real ones here"
    return "lengths = lengths.cpu()"


def multiply_shares(case: Case, **_: Any) -> str:
    """Multiply shares of the width by the width."""
    width = f"x.size({case.steps_axis})"
    shares = "lengths = torch.as_tensor(lengths)"
    return program("import torch", "", shares, f"lengths = (lengths.double() * {width}).round().long()")


def round_lengths(case: Case, **_: Any) -> str:
    """Round the lengths, of which torch would truncate some."""
    rounded = f"lengths = torch.as_tensor(lengths).round().long().clamp(max=x.size({case.steps_axis}))"
    return program("import torch", "", f"{rounded}  # better: count the steps, and never divide")


def cut_lengths(case: Case, **_: Any) -> str:
    """Limit the lengths to T, after a look at what made them."""
    return program(
        "import torch",
        "",
        "# Check first how the lengths are computed: take len() of each sequence before padding and truncation.",
        "# Use clamp only if x was cut to this width. Otherwise it hides the mistake.",
        f"lengths = torch.as_tensor(lengths).clamp(max=x.size({case.steps_axis}))",
    )


def replace_not_finite(case: Case, **_: Any) -> str:
    """Put zeros in the place of NaN and inf."""
    replaced = on_data(case, "torch.nan_to_num(", ", nan=0.0, posinf=0.0, neginf=0.0)")
    return program("import torch", "", "# better: find out where they come from", replaced)


def zero_pads(case: Case, **_: Any) -> str:
    """Set all pads to 0."""
    turned = turn(case)
    return program(
        "import torch",
        "",
        "lengths = torch.as_tensor(lengths)",
        f"grid = x{turned}",
        "pads = torch.arange(grid.size(1)) >= lengths[:, None]  # (B, T)",
        "pads = pads.to(x.device).reshape(*pads.shape, *[1] * (x.dim() - 2))",
        f"x = grid.masked_fill(pads, 0){turned}",
    )

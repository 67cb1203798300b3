"""Repairs of the indices of a packed sequence, of the module, and of what is given with the batch.

Each function returns the program for a case; what it takes by name are the fields of the fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from packviz.rules.repairs.program import IMPORT_BOTH, TURN, on_data, program, turn

if TYPE_CHECKING:
    from packviz.rules.case import Case


def index_again(_: Case, *, name: str, other_is_known: bool, **__: Any) -> str:
    """Make one of the index tensors, by torch, from the other."""
    order = "packed.unsorted_indices.argsort()" if name == "sorted_indices" else "packed.sorted_indices"
    rebuilt = "packed = PackedSequence(packed.data, packed.batch_sizes"
    if not other_is_known:
        line = f"{rebuilt})  # in the order in which they are"
        return program("from torch.nn.utils.rnn import PackedSequence", "", line)
    return program(
        "import torch",
        "from torch.nn.utils.rnn import PackedSequence",
        "",
        f"{rebuilt}, {order})  # torch inverts them",
    )


def mask_again(case: Case, **_: Any) -> str:
    """Make the mask from the lengths."""
    assert case.mask is not None
    turned = "" if case.batch_first or tuple(case.mask.shape) == (case.B, case.T) else TURN
    mask = f"(torch.arange({case.T}) < torch.as_tensor(lengths)[:, None]){turned}"
    return program("import torch", "", f"mask = {mask}")


def pack_targets_again(case: Case, *, packed: bool, **_: Any) -> str:
    """Pack the targets with the lengths of the inputs."""
    if not packed:
        return "target_lengths = lengths"
    x = "pack_padded_sequence(x, lengths, batch_first, enforce_sorted)" if case.packed is None else "packed"
    return program(
        IMPORT_BOTH,
        "",
        f"inputs = {x}",
        "_, lengths = pad_packed_sequence(inputs, batch_first=True)",
        "T = max(len(targets.batch_sizes), int(lengths.max()))",
        "grid, _ = pad_packed_sequence(targets, batch_first=True, total_length=T)",
        "targets = pack_padded_sequence(grid, lengths, batch_first=True, enforce_sorted=False)",
        "# where the targets were shorter there are pads now: leave them out of the loss",
    )


def widen_output(case: Case, *, steps: tuple[int, ...], **_: Any) -> str:
    """Pad the output to the width of x."""
    pad = "0, 0, 0, " if case.batch_first else "0, 0, 0, 0, 0, "
    widened = f"torch.nn.functional.pad(output, ({pad}{case.T - steps[0]}))"
    return program("import torch", "", f"output = {widened}  # or unpack with total_length={case.T}")


def move_data(case: Case, **_: Any) -> str:
    """Bring the data to the device of the weights."""
    device = "module.weight_ih_l0.device"
    if case.data.device.type != "meta":
        name = "x" if case.packed is None else "packed"
        return f"{name} = {name}.to({device})"
    if case.packed is None:
        return program("import torch", "", f"x = torch.zeros(x.shape, device={device})")
    return program(
        "import torch",
        "from torch.nn.utils.rnn import PackedSequence",
        "",
        f"data = torch.zeros(packed.data.shape, device={device})",
        "packed = PackedSequence(data, packed.batch_sizes)",
    )


def add_feature(case: Case, **_: Any) -> str:
    """Add a dimension of one feature to the data."""
    embed = [] if case.data.is_floating_point() else ["# embed them instead if these are ids"]
    return program(*embed, on_data(case, "", ".unsqueeze(-1).to(module.weight_ih_l0.dtype)"))


def convert_ids(case: Case, **_: Any) -> str:
    """Convert integers to the dtype of the weights."""
    return program("# embed them instead if these are ids", convert_data(case))


def convert_data(case: Case, **_: Any) -> str:
    """Convert the data to the dtype of the weights."""
    return on_data(case, "", ".to(module.weight_ih_l0.dtype)")


def flatten_features(case: Case, *, extra: int, **_: Any) -> str:
    """Bring the data to the number of dimensions that the module takes."""
    return on_data(case, "", f".flatten({-1 - extra})" if extra > 0 else ".reshape(1, -1, module.input_size)")


def build_for_features(case: Case, **_: Any) -> str:
    """Build the module for as many features as the data have."""
    source, kind = "x" if case.packed is None else "packed.data", type(case.module).__name__
    settings = ", ".join(f'"{name}": module.{name}' for name in ("num_layers", "bidirectional", "batch_first"))
    other = f"new weights: or bring the data to {case.layer.input_size} features"
    return program(
        "from torch import nn",
        "",
        f"layers = {{{settings}}}",
        f"module = nn.{kind}({source}.size(-1), module.hidden_size, **layers)",
        f"module = module.to({source})  # {other}",
    )


def make_hx(_: Case, *, pair: bool, several: bool, tensors: list[bool], **__: Any) -> str:
    """Convert the state to the kind that the module takes."""
    if pair and tensors == [True] and not several:
        return "hx = (hx, hx.new_zeros(*hx.shape[:-1], module.hidden_size))"
    if several and tensors[:1] == [True] and not pair:
        return "hx = hx[0]"
    return "hx = None  # zeros, torch's default"


def turn_hx(_: Case, *, turned: bool, several: bool, **__: Any) -> str:
    """Swap the dimensions of the state, if that mends it."""
    if not turned:
        return "hx = None  # zeros, torch's default"
    if several:
        return "hx = tuple(part.transpose(0, 1).contiguous() for part in hx)"
    return "hx = hx.transpose(0, 1).contiguous()"


def convert_hx(_: Case, *, pair: bool, **__: Any) -> str:
    """Convert the state to the dtype and the device of the weights."""
    if pair:
        return "hx = tuple(part.to(module.weight_ih_l0) for part in hx)"
    return "hx = hx.to(module.weight_ih_l0)"


def read_last_step(case: Case, **_: Any) -> str:
    """Read the state after each sequence's last step."""
    run: list[str] = []
    if case.output is None:
        pack = (
            []
            if case.packed is not None
            else ["packed = pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)"]
        )
        unpack = f"output, lengths = pad_packed_sequence(module(packed, hx)[0], batch_first={case.batch_first})"
        run = [IMPORT_BOTH, "", *pack, unpack]
    both = []
    if case.module is not None and case.module.bidirectional:
        backward = "torch.cat([state[:, :H], grid[:, 0, H:]], 1)  # the backward direction ends at t = 0"
        both = ["H = grid.size(-1) // 2", f"state = {backward}"]
    return program(
        "import torch",
        *run,
        "",
        f"grid = output{turn(case)}  # (B, T, D*H)",
        "last = torch.as_tensor(lengths).to(grid.device) - 1",
        "state = grid[torch.arange(len(last)), last]  # (B, D*H): the state after each last step",
        *both,
    )


def use_padded_lengths(_: Case, *, ours: list[int], **__: Any) -> str:
    """Use the lengths of the sequences that were padded."""
    return f"lengths = {ours}  # of the sequences themselves"

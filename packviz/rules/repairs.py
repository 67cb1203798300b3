"""Repairs that several findings share, as code that runs."""

from __future__ import annotations

from packviz.rules.case import Case

__all__ = ["emptied_pads", "recounted", "rolled", "turned", "viewed_back"]


def turned(case: Case) -> str:
    """Return the code that reads, or lays, x the other way round."""
    if case.module is not None:
        return "x = x.transpose(0, 1)  # to the layout that batch_first of the module names"
    return f"batch_first = {not case.batch_first}"


def viewed_back(case: Case) -> str:
    """Return the code that undoes a view and transposes instead."""
    return "\n".join(
        f"{name} = {name}.reshape({name}.size(1), {name}.size(0), *{name}.shape[2:]).transpose(0, 1)"
        for name in (["x"] if case.ids is None else ["x", "ids"])
    )


def recounted(case: Case, pad: str | None = None) -> str:
    """Return the code that counts the lengths from the data: up to the last step that is no pad.

    pad: the padding value as code, or an index into grid; None for the one that was told, else 0.
    """
    source = "x" if case.ids is None else "ids"
    grid = source if case.batch_first else f"{source}.transpose(0, 1)"
    value = pad or repr(0 if case.padding_value is None else case.padding_value)
    real = "~grid.isnan()" if value == "nan" else f"(grid != {value})"
    return (
        f"import torch\n\ngrid = {grid}  # (B, T) or (B, T, F)\n"
        f"real = {real}.reshape(*grid.shape[:2], -1).any(-1)  # (B, T): False at pads, {value}\n"
        "steps = torch.arange(1, real.size(1) + 1, device=real.device)\n"
        "lengths = (real * steps).amax(1).clamp(min=1).cpu()  # up to the last step that is no pad"
    )


def rolled(case: Case, pad: str) -> str:
    """Return the code that brings pads from the left to the right, and counts the lengths anew."""
    source = "x" if case.ids is None else "ids"
    turn = "" if case.batch_first else ".transpose(0, 1)"
    both = ["x"] if case.ids is None else ["x", "ids"]
    lines = [
        "import torch\n",
        f"grid = {source}{turn}  # (B, T) or (B, T, F)",
        f"real = (grid != {pad}).reshape(*grid.shape[:2], -1).any(-1)",
        "before = real.int().argmax(1)  # pads before each sequence",
        "lengths = (real.size(1) - before).cpu()",
    ]
    for name in both:
        rows = f"zip({name}{turn}, before.tolist(), strict=True)"
        lines.append(f"{name} = torch.stack([row.roll(-pads, 0) for row, pads in {rows}]){turn}")
    return "\n".join(lines)


def emptied_pads(case: Case) -> str:
    """Return the code that puts 0 into every pad."""
    grid = "x" if case.batch_first else "x.transpose(0, 1)"
    return (
        f"import torch\n\nlengths = torch.as_tensor(lengths)\ngrid = {grid}\n"
        "pads = torch.arange(grid.size(1)) >= lengths[:, None]  # (B, T)\n"
        "pads = pads.to(x.device).reshape(*pads.shape, *[1] * (x.dim() - 2))\n"
        f"x = grid.masked_fill(pads, 0){'' if case.batch_first else '.transpose(0, 1)'}"
    )

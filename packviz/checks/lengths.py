"""The lengths: one whole number from 1 to T for each sequence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.checks.evidence import described, torch_refusal
from packviz.errors import PackvizError
from packviz.modules import dtype_name

__all__ = ["check_lengths", "check_no_lengths", "order_refusal"]


def check_lengths(lengths: object, B: int, T: int, *, enforce_sorted: bool) -> Tensor:
    """Return lengths as a new (B,) int64 tensor.

    Raises PackvizError where torch would refuse them, and where it would go wrong silently: lengths longer than T,
    fewer than B, or not whole.
    """
    given = _tensor(lengths, B, T)

    def torch_says() -> str | None:
        return torch_refusal(lambda: pack_padded_sequence(_cells(B, T), given, True, enforce_sorted))

    if given.device.type != "cpu" or given.dim() != 1:
        came = described(lengths) + ("" if given.device.type == "cpu" else f" on {given.device}")
        mend = f"give {B} lengths in one row" if given.device.type == "cpu" else "copy it with lengths.cpu()"
        raise _refusal(f"{B} lengths as a list, or a 1-D tensor on the CPU", came, mend, torch_says())
    if len(given) != B:
        mend = f"give {B} lengths; if x is laid out the other way round, mind the module's batch_first"
        raise _refusal(f"{B} lengths, one for each sequence", _count(given, B, enforce_sorted), mend, torch_says())
    if given.dtype.is_floating_point or given.dtype.is_complex or given.dtype == torch.bool:
        raise _refusal("whole numbers", _not_whole(given), "convert them yourself: lengths.long(), or int() for a list")
    _check_range(given, T, torch_says)
    return given.to(torch.int64, copy=True)


def check_no_lengths(lengths: object) -> None:
    """Raise PackvizError for lengths beside a PackedSequence, which has its own."""
    if lengths is not None:
        mend = "leave lengths out, or give the padded tensor"
        raise _refusal("None beside a PackedSequence", described(lengths), mend)


def order_refusal(lengths: Tensor, T: int) -> str | None:
    """Return torch's own message where it refuses the order of the lengths (B,) with enforce_sorted=True, else None."""
    try:
        pack_padded_sequence(_cells(len(lengths), T), lengths, batch_first=True, enforce_sorted=True)
    except RuntimeError as error:
        return str(error)
    return None


def _cells(B: int, T: int) -> Tensor:
    return torch.zeros(B, T, dtype=torch.bool, device="cpu")


def _tensor(lengths: object, B: int, T: int) -> Tensor:
    if lengths is None:
        raise _refusal(
            f"{B} lengths beside a padded tensor",
            "None, with which the module would run every pad as if it were a token",
            f"give one length for each sequence; lengths=[{T}] * {B} if nothing is padded",
        )
    try:
        return torch.as_tensor(lengths, device=lengths.device if isinstance(lengths, Tensor) else "cpu")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        came = f"{described(lengths)} ({str(error).splitlines()[0]})"
        raise _refusal(f"{B} whole numbers", came, "give a list of whole numbers or an int64 tensor") from None


def _check_range(lengths: Tensor, T: int, torch_says: Callable[[], str | None]) -> None:
    for b, length in enumerate(lengths.tolist()):
        if length < 1:
            mend = "leave that sequence out, or pack with lengths.clamp(min=1) and mask what comes out of it"
            raise _refusal("lengths of at least 1", f"{length} for sequence {b}", mend, torch_says())
    over = (lengths > T).nonzero().flatten().tolist()
    if over:
        b, rows = over[0], int(lengths.clamp(max=T).sum())
        raise _refusal(
            f"lengths of at most T = {T}",
            f"{int(lengths[b])} for sequence {b} (torch would pack {rows} rows without an error, "
            f"but with batch_sizes that sum to {int(lengths.sum())})",
            "compute the lengths before padding or truncating, or cut them with lengths.clamp(max=T)",
        )


def _count(lengths: Tensor, B: int, enforce_sorted: bool) -> str:
    if len(lengths) < B and not enforce_sorted and len(lengths):
        last = f"the last {B - len(lengths)}" if B - len(lengths) > 1 else "the last one"
        return f"{len(lengths)} (torch would drop {last} of the {B} sequences without an error)"
    return str(len(lengths))


def _not_whole(lengths: Tensor) -> str:
    dtype = dtype_name(lengths.dtype)
    cut = [b for b, length in enumerate(lengths.tolist()) if isinstance(length, float) and length % 1]
    if not cut:
        silent = "" if lengths.dtype.is_complex else " (torch would convert it without a word)"
        return f"a {dtype} tensor{silent}"
    return f"{lengths[cut[0]]:g} for sequence {cut[0]} (torch would cut it to {int(lengths[cut[0]])} without a word)"


def _refusal(expected: str, came: str, mend: str, torch_says: str | None = None) -> PackvizError:
    return PackvizError("lengths", expected=expected, came=came, mend=mend, torch_says=torch_says)

"""A model in evaluation for a while, and then again as it was before."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn


def parts_of(model: object) -> list[nn.Module]:
    """Return the modules of a model, or of the one whose method it is."""
    owner = getattr(model, "__self__", model)
    return list(owner.modules()) if isinstance(owner, nn.Module) else []


@contextmanager
def as_before(model: object, batch: Tensor) -> Iterator[None]:
    """Put a model into evaluation, without gradients; then its attributes, buffers and random numbers are as before."""
    parts = parts_of(model)
    own = [part for part in parts if not isinstance(part, torch.jit.ScriptModule)]  # whose attributes are Python's
    held = [(kept, dict(kept)) for part in own for kept in (vars(part), part._buffers)]
    training = [part.training for part in parts]
    buffers = [kept for part in parts for kept in part._buffers.values() if kept is not None]
    values = [(kept, _version(kept), kept.clone()) for kept in buffers]
    # what was made in inference mode can be changed only there
    inference = torch.is_inference_mode_enabled() or any(one.is_inference() for one in (batch, *buffers))
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()
    devices = [batch.device] if batch.device.type == "cuda" else []
    with torch.inference_mode(inference), torch.no_grad(), torch.random.fork_rng(devices):
        try:
            for part in parts:
                part.training = False
            yield
        finally:
            random.setstate(drawn)
            np.random.set_state(drawn_by_numpy)
            for kept, before in held:
                kept.clear()
                kept.update(before)
            for part, mode in zip(parts, training, strict=True):
                part.training = mode
            for buffer, version, value in values:
                if version is None or version != buffer._version:
                    buffer.copy_(value)


def _version(tensor: Tensor) -> int | None:
    """Return how often a tensor was changed in place; None where torch does not count it."""
    return None if tensor.is_inference() else tensor._version

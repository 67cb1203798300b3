"""A model as a check may run it: a copy in evaluation mode, so that nobody sees the caller's model change."""

import copy
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode


@contextmanager
def evaluated(model: Any, *beside: Tensor) -> Iterator[Any]:
    """Yield a copy of the model in evaluation mode, without gradients inside the block.

    The copy shares the parameters, and has its own buffers, attributes and hooks: whatever a run keeps or counts is
    kept by the copy, and other threads go on with the model as it is. A method is copied with its module; any other
    function is used as it is. What was made in inference mode is run there, as are the tensors beside the model.
    """
    owner = getattr(model, "__self__", model)
    modules = isinstance(owner, nn.Module)
    buffers = [*owner.buffers()] if modules else []
    made = any(one.is_inference() for one in (*beside, *buffers))
    with torch.inference_mode(torch.is_inference_mode_enabled() or made), torch.no_grad():
        if not modules:
            yield model
            return
        own = _copied(owner).eval()
        yield own if owner is model else MethodType(model.__func__, own)


def _copied(module: nn.Module) -> nn.Module:
    # deepcopy takes what the memo has for its copy: parameters are shared, and tensors with a history are cut off it,
    # since it refuses them
    memo: dict[int, Any] = {id(one): one for one in module.parameters()}
    for part in module.modules():
        for value in vars(part).values():
            if isinstance(value, Tensor) and not value.is_leaf:
                memo[id(value)] = value.detach().clone()
    try:
        return copy.deepcopy(module, memo)
    except Exception:  # an attribute that cannot be copied, such as a lock or an open file
        return _tree(module, {})


def _tree(module: nn.Module, done: dict[int, nn.Module]) -> nn.Module:
    """Return a copy of the tree of modules with buffers and hooks of its own; all else is shared."""
    if id(module) in done:
        return done[id(module)]
    own = done[id(module)] = copy.copy(module)
    own.__dict__ = {k: copy.copy(v) if isinstance(v, OrderedDict) else v for k, v in vars(module).items()}  # hooks
    own._modules = {name: None if part is None else _tree(part, done) for name, part in module._modules.items()}
    own._buffers = {name: None if value is None else value.clone() for name, value in module._buffers.items()}
    return own


class NormalizingAsInTraining(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Give every batch normalization the statistics of its batch: also a scripted, traced or functional one."""

    seen = False

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = [argument.name for argument in call._schema.arguments]
        if named[3:6] == ["running_mean", "running_var", "training"] and not args[5]:
            self.seen, args = True, (*args[:3], None, None, True, *args[6:])
        return call(*args, **(kwargs or {}))

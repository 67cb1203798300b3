"""Influence: how strongly each output of a row depends on each of its tokens."""

from collections.abc import Callable

import torch
from torch import Tensor

_NUMBERS = 2**22  # of the largest tensor of a layer of attention at once: 16 MB in float32

Run = Callable[[Tensor, Tensor, Tensor], Tensor]


def influence(run: Run, x: Tensor, position_ids: Tensor, document_ids: Tensor, outputs: range) -> Tensor:
    """Return (outputs, N): the largest absolute number of the gradient of output[q].sum() by x[k]; 0.0 means none.

    run       run(x (B, N, E), position_ids (1, N), document_ids (1, N)) -> (B, N, E), of B rows with the same borders
    x         (1, N, E): the embedded tokens
    outputs   the places q of the outputs

    Each output gets a copy of the row: one run and one backward pass give all gradients.
    """
    _, N, E = x.shape
    found = []
    for queries in torch.split(torch.tensor(outputs, device="cpu"), max(1, _NUMBERS // (N * max(N, E)))):
        copies = x.detach().repeat(len(queries), 1, 1).requires_grad_()
        with torch.enable_grad():
            sums = run(copies, position_ids, document_ids).sum(-1)  # (copies, N)
            (gradient,) = torch.autograd.grad(sums.gather(1, queries.unsqueeze(1)).sum(), copies)
        found.append(gradient.abs().amax(-1))  # (copies, N)
    return torch.cat(found)

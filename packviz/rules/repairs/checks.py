"""Repairs of a model, or of its collate function, as check_samples() and check_rows() name what is wrong."""

from typing import Any

from packviz.rules.repairs.program import IMPORT_PACK, Repair, always, program

_MASK = program(
    "mask = (seq_idx[:, :, None] == seq_idx[:, None, :]).tril()[:, None]  # (1, 1, N, N): same document, not later",
    "starts = position_ids == 0  # where a recurrent layer sets its state to 0",
)


_TRANSPOSE = "h = h_n.transpose(0, 1).flatten(1)  # (B, L * D * H): view and reshape do not swap dimensions"


def _isolate(_case: object, *, cause: str, **_: Any) -> str:
    """Return the repair of a leak by its cause."""
    if cause == "sorted_by_length":
        return "outputs = [outputs[order.index(d)] for d in range(len(documents))]  # undo documents[d] for d in order"
    if cause == "labels_shifted":
        return "labels[:, cu_seqlens[1:-1].long()] = -100  # the first token of a document is not a target"
    if cause == "recurrent_layer":
        return program(
            "from torch.nn.utils.rnn import pack_sequence",
            "",
            "packed = pack_sequence(documents, enforce_sorted=False)  # run this; or set the state to 0 at each border",
        )
    if cause == "statistics":  # of the row, although the model is in evaluation mode
        return program(
            "import torch", "", "norm = torch.nn.LayerNorm(norm.num_features)  # of (N, F): each token by itself"
        )
    return _MASK


def _cut(_case: object, *, convolves: bool, **_: Any) -> str:
    """Return the repair of what reaches over the borders by a few tokens; only a convolution is known to be one."""
    if not convolves:
        return ""
    return program(
        "import torch",
        "",
        "parts = x.split(cu_seqlens.diff().tolist(), dim=1)  # (1, n, F) for each document",
        "outputs = [conv(part.transpose(1, 2))[..., :part.size(1)].transpose(1, 2) for part in parts]",
        "output = torch.cat(outputs, dim=1)  # (1, N, F): each document with padding of its own, k - 1 zeros",
    )


def _draw_in_training(_case: object, *, cause: str, **_: Any) -> str:
    """Return the repair of a model that draws; if it keeps a state, only its author knows where to reset it."""
    if cause == "draws_in_evaluation":
        lines = (
            "from torch.nn import functional",
            "",
            "x = functional.dropout(x, training=self.training)  # in forward",
        )
        return program(*lines)
    return "model.eval()" if cause == "draws_in_training" else ""


def _divide_by_own(_case: object, *, divided: str, **_: Any) -> str:
    """Return the repair of a mean over the batch, if the results are those of one."""
    return "loss = (losses * mask).sum(1) / mask.sum(1)  # of each sample, by its own number of tokens" * bool(divided)


_PUT_BACK = "output = output[order.argsort()]  # undo x[order]; or pack with enforce_sorted=False, which sorts"


def _put_in_order(_case: object, *, cause: str, **_: Any) -> str:
    """Return the repair of results that depend on the order: only if they were moved, there is an order to undo."""
    if cause == "moved":
        return _PUT_BACK
    if cause == "flows":
        pack = "packed = pack_padded_sequence(batch, lengths, batch_first=batch_first, enforce_sorted=False)"
        return program(IMPORT_PACK, "", f"{pack}  # each sequence has a state of its own")
    return _TRANSPOSE


_BEGIN_AGAIN = always(
    "import torch",
    "",
    "position_ids = torch.cat([torch.arange(n) for n in cu_seqlens.diff().tolist()])[None]  # each begins with 0",
)

REPAIRS: dict[str, Repair] = {
    "run_differs": _draw_in_training,
    "results_moved": always(_PUT_BACK),
    "order_differs": _put_in_order,
    **dict.fromkeys(("place_matters", "positions"), _BEGIN_AGAIN),
    "flows_on": always(_MASK),
    "flows_back": always("labels[starts] = -100  # the first token of a sample is not a target of the one before it"),
    "batch_matters": always("model.eval()  # for batch normalization; compute every other statistic within one sample"),
    "samples_mixed": always(_TRANSPOSE),
    "width_matters": always(
        "import torch",
        "",
        "mask = torch.arange(output.size(1)) < lengths[:, None]  # (B, T), True at tokens",
        "mean = (output * mask[..., None]).sum(1) / lengths[:, None]",
        "last = output[torch.arange(len(lengths)), lengths - 1]",
    ),
    "count_matters": _divide_by_own,
    "shape_differs": always(
        "import torch", "", "lengths = torch.tensor([len(sample) for sample in samples])  # before padding"
    ),
    "leak": _isolate,
    "convolution": _cut,
}

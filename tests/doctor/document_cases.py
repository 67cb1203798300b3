"""Models of rows, right and wrong, in the style of public reports; each is called as call(model, row)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

IDS, E = 20, 8
Call = Callable[[Any, Any], Any]


def documents(lengths: tuple[int, ...] = (4, 3, 1, 5), seed: int = 0) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randint(1, IDS, (length,), generator=drawn) for length in lengths]


def values(lengths: tuple[int, ...] = (6, 4, 5), seed: int = 0) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randn(length, E, generator=drawn) for length in lengths]


class Model(nn.Module):
    """Two layers of attention, with learned, rotary or no positions; and other layers for a row."""

    def __init__(self, positions: str = "learned") -> None:
        super().__init__()
        torch.manual_seed(1)
        self.positions, self.embedding = positions, nn.Embedding(IDS, E)
        self.places = nn.Embedding(64, E)
        self.qkv = nn.ModuleList([nn.Linear(E, 3 * E) for _ in range(2)])
        self.head = nn.Linear(E, IDS)

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(ids)
        if self.positions == "learned":
            x = x + self.places(positions)
        for layer in self.qkv:
            q, k, v = layer(x)[:, None].chunk(3, -1)
            if self.positions == "rope":
                q, k = rotated(q, positions), rotated(k, positions)
            x = x + scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, 0]
        return self.head(x)  # type: ignore[no-any-return]


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    angles = positions[:, None, :, None] * 10000 ** -(torch.arange(0, E, 2) / E)
    one, two = x.chunk(2, -1)
    return torch.cat([one * angles.cos() - two * angles.sin(), one * angles.sin() + two * angles.cos()], -1)


def runs_on(row: Any) -> Tensor:
    return torch.arange(row.input_ids.size(1))[None]


def causal(row: Any) -> Tensor:
    return torch.ones(row.input_ids.size(1), row.input_ids.size(1), dtype=torch.bool).tril()


def split(x: Tensor, row: Any) -> list[Tensor]:
    return list(torch.split(x, row.cu_seqlens.diff().tolist(), 1))


def by_parts(run: Callable[[Tensor], Tensor], x: Tensor, row: Any) -> Tensor:
    return torch.cat([run(part) for part in split(x, row)], 1)


class Recurrent(nn.Module):
    def __init__(self, cell: type[nn.RNN | nn.GRU | nn.LSTM], **told: Any) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.embedding, self.rnn = nn.Embedding(IDS, E), cell(E, E, batch_first=True, **told)

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.rnn(self.embedding(input_ids))[0]  # type: ignore[no-any-return]


def packed(model: Recurrent, row: Any) -> Tensor:
    parts = [part[0] for part in split(model.embedding(row.input_ids), row)]
    return torch.cat(unpack_sequence(model.rnn(pack_sequence(parts, enforce_sorted=False))[0]))[None]


class Convolution(nn.Module):
    def __init__(self, kernel: int, layers: int = 1) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.kernel, self.embedding = kernel, nn.Embedding(IDS, E)
        self.layers = nn.ModuleList([nn.Conv1d(E, E, kernel, groups=E) for _ in range(layers)])

    def over(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(nn.functional.pad(x.transpose(1, 2), (self.kernel - 1, 0))).transpose(1, 2)
        return x

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.over(self.embedding(input_ids))


class Delta(nn.Module):
    """A gated delta rule in ten lines, with a short convolution before it."""

    def __init__(self, *, conv_cut: bool, reset: bool) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.conv, self.qkv, self.gates = Convolution(4), nn.Linear(E, 3 * E), nn.Linear(E, 2)
        self.conv_cut, self.reset = conv_cut, reset

    def forward(self, input_ids: Tensor, cu_seqlens: Tensor) -> Tensor:
        x, starts = self.conv.embedding(input_ids), {*cu_seqlens.tolist()[:-1]}
        lengths = cu_seqlens.diff().tolist()
        parts = torch.split(x, lengths, 1) if self.conv_cut else (x,)
        x = x + torch.cat([self.conv.over(part) for part in parts], 1)
        q, k, v = self.qkv(x)[0].chunk(3, -1)
        k, (decay, beta) = nn.functional.normalize(k, dim=-1), self.gates(x)[0].sigmoid().unbind(-1)
        state, outputs = x.new_zeros(E, E), []
        for t in range(len(q)):
            if self.reset and t in starts:
                state = torch.zeros_like(state)
            state = decay[t] * state
            state = state + beta[t] * torch.outer(v[t] - state @ k[t], k[t])
            outputs.append(state @ q[t])
        return torch.stack(outputs)[None]


class Hybrid(nn.Module):
    """Attention that is isolated, after a recurrent layer that is or is not."""

    def __init__(self, *, reset: bool) -> None:
        super().__init__()
        self.recurrent, self.attention, self.reset = Recurrent(nn.GRU), Model("none"), reset

    def forward(self, input_ids: Tensor, position_ids: Tensor, cu_seqlens: Tensor, attention_mask: Tensor) -> Tensor:
        x = self.recurrent.embedding(input_ids)
        parts = torch.split(x, cu_seqlens.diff().tolist(), 1) if self.reset else (x,)
        states = torch.cat([self.recurrent.rnn(part)[0] for part in parts], 1)
        return self.attention(input_ids, position_ids, attention_mask) + states.sum(-1, keepdim=True)  # type: ignore[no-any-return]


class Policy(nn.Module):
    """A recurrent policy over a rollout of episodes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.cell, self.head = nn.GRUCell(E, E), nn.Linear(E, 2)

    def forward(self, rollout: Tensor, starts: Tensor) -> Tensor:
        h, outputs = rollout.new_zeros(1, E), []
        for x, start in zip(rollout[0], starts, strict=True):
            h = self.cell(x[None], h * (~start))
            outputs.append(self.head(h))
        return torch.stack(outputs, 1)


def starts_of(row: Any) -> Tensor:
    starts = torch.zeros(row.input_ids.size(1), dtype=torch.bool)
    starts[row.cu_seqlens[:-1].long()] = True
    return starts


def losses(model: Model, row: Any, *, over_the_border: bool) -> Tensor:
    """Return N - 1 losses of the next token."""
    logits = model(row.input_ids, row.position_ids, row.mask)
    labels = row.input_ids[:, 1:].clone()
    if not over_the_border:
        labels[:, row.cu_seqlens[1:-1].long() - 1] = -100
    return nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), labels, reduction="none")


def by_offsets(model: Model, row: Any, offsets: Tensor) -> Tensor:
    """Run attention for the documents between the offsets."""
    bounds = [0, *[int(n) for n in offsets if 0 < int(n) < row.input_ids.size(1)], row.input_ids.size(1)]
    owner = torch.cat([torch.full((b - a,), d) for d, (a, b) in enumerate(pairwise(bounds))])
    mask = (owner[:, None] == owner).tril()
    return model(row.input_ids, row.position_ids, mask)  # type: ignore[no-any-return]


def sorted_parts(model: Model, row: Any, *, back: bool) -> Tensor:
    order = sorted(range(len(row.documents)), key=lambda d: -len(row.documents[d]))
    parts = [model(one[None], torch.arange(len(one))[None], causal_of(one)) for one in row.documents]
    return torch.cat([parts[d] for d in (range(len(parts)) if back else order)], 1)


def causal_of(one: Tensor) -> Tensor:
    return torch.ones(len(one), len(one), dtype=torch.bool).tril()


class Normed(nn.Module):
    """A normalization over the row that is always in training, or a layer normalization."""

    def __init__(self, *, over_the_row: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(IDS, E)
        norm = nn.BatchNorm1d(E, track_running_stats=False) if over_the_row else nn.LayerNorm(E)
        self.norm: nn.Module = norm

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.norm(self.embedding(input_ids)[0])[None]  # type: ignore[no-any-return]


def minus_mean(model: Model, row: Any, *, whole: bool) -> Tensor:
    x = model.embedding(row.input_ids)
    return x - x.mean(1, keepdim=True) if whole else by_parts(lambda part: part - part.mean(1, keepdim=True), x, row)


def routed(model: Model, row: Any) -> Tensor:
    """Send each token to one of two experts: the sizes of the products depend on the tokens."""
    x = model.embedding(row.input_ids)[0]
    out, expert = torch.zeros_like(x), x[:, 0] > 0
    for which in (True, False):
        out[expert == which] = model.qkv[int(which)](x[expert == which])[:, :E]
    return out[None]


RIGHT: dict[str, tuple[Any, Call | None, list[Tensor]]] = {
    "block mask, learned": (Model(), lambda m, r: m(r.input_ids, r.position_ids, r.mask), documents()),
    "block mask, by the names": (Model(), None, documents()),
    "block mask, rotary": (Model("rope"), None, documents()),
    "block mask, rotary, positions run on": (
        Model("rope"),
        lambda m, r: m(r.input_ids, runs_on(r), r.mask),
        documents(),
    ),
    "block mask, no positions": (Model("none"), None, documents()),
    "two-way block mask": (
        Model(),
        lambda m, r: m(r.input_ids, r.position_ids, r.seq_idx[:, :, None] == r.seq_idx[:, None]),
        documents(),
    ),
    "counted from 2": (Model(), lambda m, r: m(r.input_ids, r.position_ids + 2, r.mask), documents()),
    "float64": (Model().double(), None, documents()),
    "bfloat16": (Model().bfloat16(), None, documents()),
    "packed RNN": (Recurrent(nn.RNN), packed, documents()),
    "packed GRU, both ways": (Recurrent(nn.GRU, bidirectional=True), packed, documents()),
    "packed LSTM": (Recurrent(nn.LSTM, num_layers=2, dropout=0.5), packed, documents()),
    "convolution, cut": (
        Convolution(4),
        lambda m, r: by_parts(m.over, m.embedding(r.input_ids), r),
        documents(),
    ),
    "delta rule, cut and reset": (Delta(conv_cut=True, reset=True), None, documents()),
    "hybrid, reset": (Hybrid(reset=True), None, documents()),
    "policy with resets": (Policy(), lambda m, r: m(r.input_ids, starts_of(r)), values()),
    "losses, cut at the borders": (Model(), lambda m, r: losses(m, r, over_the_border=False), documents()),
    "offsets": (Model(), lambda m, r: by_offsets(m, r, r.cu_seqlens), documents()),
    "sorted and put back": (Model(), lambda m, r: sorted_parts(m, r, back=True), documents()),
    "layer normalization": (Normed(over_the_row=False), None, documents()),
    "mean of each document": (Model(), lambda m, r: minus_mean(m, r, whole=False), documents()),
    "experts": (Model(), routed, documents()),
    "one-token documents": (Model(), None, documents((1, 1, 3, 1))),
    "64 tokens in 8 documents": (Model(), None, documents((8,) * 8)),
    "a dict with other outputs": (
        Model(),
        lambda m, r: {"logits": m(r.input_ids, r.position_ids, r.mask), "loss": torch.tensor(float(r.max_seqlen))},
        documents(),
    ),
    "a function": (lambda input_ids: input_ids * 2, None, documents()),
}
WRONG: dict[str, tuple[Any, Call | None, list[Tensor], str, str]] = {  # the kind, and a word of what is said
    "causal mask only, learned": (
        Model(),
        lambda m, r: m(r.input_ids, r.position_ids, causal(r)),
        documents(),
        "leak",
        "A changes B, C and D",
    ),
    "causal mask only, rotary": (
        Model("rope"),
        lambda m, r: m(r.input_ids, r.position_ids, causal(r)),
        documents(),
        "leak",
        "lacks the borders",
    ),
    "causal mask only, positions run on": (
        Model(),
        lambda m, r: m(r.input_ids, runs_on(r), causal(r)),
        documents(),
        "leak",
        "lacks",
    ),
    "mask of ones": (
        Model(),
        lambda m, r: m(r.input_ids, r.position_ids, torch.ones_like(causal(r))),
        documents(),
        "leak",
        "no mask at all",
    ),
    "padding mask for documents": (
        Model(),
        lambda m, r: m(r.input_ids, r.position_ids, (r.seq_idx >= 0)[:, None] & causal(r)),
        documents(),
        "leak",
        "lacks",
    ),
    "positions run on": (Model(), lambda m, r: m(r.input_ids, runs_on(r), r.mask), documents(), "positions", "run on"),
    "positions of the width": (
        Model(),
        lambda m, r: m(r.input_ids, r.position_ids + len(r.documents), r.mask),
        documents(),
        "positions",
        "The first document differs, too",
    ),
    "RNN": (Recurrent(nn.RNN), None, documents(), "leak", "The state of RNN rnn runs on"),
    "GRU": (Recurrent(nn.GRU), None, documents(), "leak", "The state of GRU rnn runs on"),
    "LSTM": (Recurrent(nn.LSTM), None, documents((4, 3, 2, 5)), "leak", "The state of LSTM rnn runs on"),
    "GRU, both ways": (Recurrent(nn.GRU, bidirectional=True), None, documents(), "leak", "B changes A"),
    "convolution of 4": (Convolution(4), None, documents(), "convolution", "kernel 4"),
    "convolution of 2": (
        Convolution(2),
        None,
        documents(),
        "convolution",
        "Only the first token of a document depends on",
    ),
    "two convolutions of 3": (Convolution(3, 2), None, documents((7, 6, 8)), "convolution", "kernel 5"),
    "delta rule, cut, not reset": (
        Delta(conv_cut=True, reset=False),
        None,
        documents(),
        "leak",
        "state of a recurrent",
    ),
    "delta rule, reset, not cut": (Delta(conv_cut=False, reset=True), None, documents(), "leak", "A changes B"),
    "hybrid, not reset": (Hybrid(reset=False), None, documents(), "leak", "The state of GRU recurrent.rnn"),
    "policy without resets": (
        Policy(),
        lambda m, r: m(r.input_ids, starts_of(r) & False),
        values(),
        "leak",
        "The state of GRUCell cell",
    ),
    "labels over the border": (
        Model(),
        lambda m, r: losses(m, r, over_the_border=True),
        documents(),
        "leak",
        "labels are shifted over the border",
    ),
    "offsets without the 0": (
        Model(),
        lambda m, r: by_offsets(m, r, r.cu_seqlens[2:]),
        documents(),
        "leak",
        "Only these borders are missing",
    ),
    "sorted, never put back": (
        Model(),
        lambda m, r: sorted_parts(m, r, back=False),
        documents((3, 5, 4)),
        "leak",
        "sorted by length",
    ),
    "batch normalization over the row": (Normed(over_the_row=True), None, documents(), "leak", "BatchNorm1d norm"),
    "minus the mean of the row": (
        Model(),
        lambda m, r: minus_mean(m, r, whole=True),
        documents(),
        "leak",
        "B changes A",
    ),
    "losses over all tokens": (
        Model(),
        lambda m, r: losses(m, r, over_the_border=False).sum(0, keepdim=True) / r.input_ids.size(1),
        documents(),
        "positions",
        "a count of its tokens",
    ),
    "draws": (
        Model(),
        lambda m, r: nn.functional.dropout(m.embedding(r.input_ids)),
        documents(),
        "run_differs",
        "random",
    ),
}

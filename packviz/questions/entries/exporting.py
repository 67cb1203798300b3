"""Experiments of the entries on export, compilation and other devices, and the programs that they share."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from packviz.charts import Panel
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Outcome
from packviz.questions.pictures import grid, numbers, picture

__all__ = [
    "ALONE",
    "ONE_GRAPH",
    "OTHERS",
    "PAIR",
    "QUIET",
    "RUN",
    "TO_ONNX",
    "TRACED",
    "card",
    "compiled",
    "elsewhere",
    "to_onnx",
    "traced_once",
]

_MODEL = """\
class Model(nn.GRU):
    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        output, h_n = super().forward(packed)
        return {returned}
model = Model(1, 4, batch_first=True)
"""
PAIR = _MODEL.format(returned="pad_packed_sequence(output, batch_first=True)[0]")
ALONE = _MODEL.format(returned="output.data")
_FILLED = PAIR.replace("batch_first=True)[0]", "batch_first=True, padding_value=-100.0)[0]")
_MASKED = """\
class Model(nn.GRU):
    def forward(self, x, lengths):
        output, h_n = super().forward(x)
        return output[torch.arange(len(x)), lengths - 1]
model = Model(1, 4, batch_first=True)
"""
TO_ONNX = """\
import warnings
from io import BytesIO
warnings.filterwarnings("ignore", "(?!Exporting)")  # all but one
try:
    torch.onnx.export(model, (x, lengths), BytesIO(), dynamo=False)
except RuntimeError as error:
    raise RuntimeError(str(error).splitlines()[0]) from None"""
_WAYS = {
    "torch.compile by default": "by default",
    "torch.compile(fullgraph=True)": "fullgraph=True",
    "torch.export": "export",
}
_COMPILED = 'wanted, output = model(x, lengths), torch.compile(model, backend="eager")(x, lengths)'
_WHOLE = _COMPILED.replace('"eager")', '"eager", fullgraph=True)')
_ALLOWED = f"with torch._dynamo.config.patch(allow_rnn=True):\n    {_WHOLE}"
_EXPORTED = "wanted, output = model(x, lengths), torch.export.export(model, (x, lengths)).module()(x, lengths)"
_GRAPH = """\
from torch.onnx._internal.torchscript_exporter.utils import _model_to_graph
graph = str(_model_to_graph(model, (x, lengths))[0])
"""
RUN = """\
def run(x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    return pad_packed_sequence(gru(packed)[0], batch_first=True)[0]
"""
_COUNTING = (
    RUN
    + """\
graphs = []
def backend(graph, inputs):
    graphs.append(graph)
    return graph.forward
torch.compile(run, backend=backend)(x, lengths)
len(graphs)"""
)
QUIET = "import warnings\nwarnings.simplefilter('ignore', torch.jit.TracerWarning)\n"
TRACED = "traced = torch.jit.trace(model, (x, lengths))\n"
ONE_GRAPH = """\
compiled = torch.compile(run, backend="eager", fullgraph=True)
try:
    compiled(x, lengths)
except torch._dynamo.exc.Unsupported as error:
    first, why, *hints = str(error).splitlines()
    raise torch._dynamo.exc.Unsupported(f"{first}\\n{why}") from None"""
OTHERS = {
    "with shorter lengths": "x, lengths = x[:, :2], lengths.clamp(max=2)\n",
    "with a longer sequence": "x, lengths = torch.randn(2, 7, 1), torch.tensor([7, 4])\n",
    "with more sequences": "x, lengths = x.repeat(2, 1, 1), lengths.repeat_interleave(2)\n",
}


def to_onnx(laboratory: Laboratory) -> Outcome:
    """Ask the ONNX exporter that works without more packages: what it refuses, and what its graph holds."""
    graphs = [laboratory.run(model + _GRAPH + "graph") for model in (PAIR, _FILLED)]
    pair, filled = (str(each.value) for each in graphs)
    exported = graphs[0].error is None
    said = laboratory.fixed.value or laboratory.fixed.error
    return Outcome(
        {
            "for pack_padded_sequence alone": laboratory.broken.error is None,
            "for both functions around the GRU": exported,
            "for padding_value=-100": exported and pair != filled,
        },
        f"Packing without unpacking is refused. With both around the GRU the exporter makes {pair.count('onnx::GRU[')} "
        f"ONNX node `GRU` of it, and `padding_value=-100` leaves {'no' if pair == filled else 'a'} trace in its graph. "
        f"The last step says here: `{said}`. What ONNX Runtime makes of the file is cited, not run here: compare its "
        "outputs with PyTorch's.",
        picture(
            card(
                "in the ONNX graph",
                {
                    "packing alone": laboratory.broken.error is None,
                    "with unpacking": exported,
                    "padding_value=-100": exported and pair != filled,
                },
            )
        ),
    )


def card(title: str, works: Mapping[str, bool]) -> Panel:
    """Return a panel of what works and what does not."""
    wrong = frozenset((i, 0) for i, does in enumerate(works.values()) if not does)
    return Panel(title, tuple(("yes" if does else "no",) for does in works.values()), wrong=wrong, rows=tuple(works))


def compiled(laboratory: Laboratory) -> Outcome:
    """Compile and export a model that packs, and one that does not, and compare what comes out with the model."""
    torch._dynamo.reset()
    try:
        whole, broken_up = laboratory.broken, laboratory.fixed
        graphs = laboratory.run(_COUNTING)
        exported = laboratory.run(PAIR + _EXPORTED)
        masked = [laboratory.run(_MASKED + code) for code in (_COMPILED, _WHOLE, _EXPORTED)]
        allowed = laboratory.run(_MASKED + _ALLOWED)
    finally:
        torch._dynamo.reset()
    same = _same(broken_up)
    works = "gives the same output as without it" if same else "does not give the same output"
    refused = masked[1].error and masked[1].error.splitlines()[0]
    packed = dict(zip(_WAYS, (same, whole.error is None, exported.error is None), strict=True))
    return Outcome(
        {f"with {name}": held for name, held in packed.items()},
        f"`torch.compile` as by default {works}: it makes {graphs.value} graphs of the function, and plain "
        f"PyTorch runs {'the rest' if graphs.value else 'all of it'}. `torch.export` says `{exported.error}`: how many "
        "rows are packed depends on the data. A model that reads the padded run at `lengths - 1` "
        f"{'can be exported' if _same(masked[2]) else 'cannot be exported either'}; `fullgraph=True` "
        f"{'takes it, too' if refused is None else f'says `{refused}`'}, and "
        f"{'takes it' if _same(allowed) else 'does not take it either'} with `torch._dynamo.config.allow_rnn = True`.",
        picture(
            card("a model that packs", dict(zip(_WAYS.values(), packed.values(), strict=True))),
            card("one that does not", dict(zip(_WAYS.values(), map(_same, masked), strict=True))),
        ),
    )


def _same(done: Program) -> bool:
    return done.error is None and torch.allclose(done["wanted"], done["output"], atol=1e-6)


def traced_once(laboratory: Laboratory) -> Outcome:
    """Call a traced model with other lengths than those it was traced with."""
    calls = {
        name: laboratory.run(PAIR + QUIET + TRACED + other + "traced(x, lengths), model(x, lengths)")
        for name, other in OTHERS.items()
    }
    told = {name: _apart(done) for name, done in calls.items()}
    shown = {name: laboratory.fixed[name][:, :, 0].detach().round(decimals=2) for name in ("output", "wanted")}
    lengths = laboratory.fixed["lengths"].tolist()
    return Outcome(
        {name: apart is None or apart > 1e-6 for name, apart in told.items()},
        "A traced model follows the lengths that it is given. The largest difference from the model itself is "
        + ", ".join(f"{_number(apart)} {name}" for name, apart in told.items())
        + ". The `TracerWarning`s, which are silenced here, are about torch's own checks. But `torch.jit.trace` is "
        "deprecated, as its first warning says.",
        picture(grid("traced", shown["output"], lengths), grid("model", shown["wanted"], lengths)),
    )


def _apart(done: Program) -> float | None:
    """Return the largest difference between the traced model and the model; None where there is none to take."""
    if done.error is not None or done.value[0].shape != done.value[1].shape:
        return None
    return float((done.value[0] - done.value[1]).detach().abs().max())


def _number(apart: float | None) -> str:
    return "not to be taken" if apart is None else f"{apart:.2g}"


def elsewhere(laboratory: Laboratory) -> Outcome:
    """Compare another device with the CPU, where there is one."""
    here = torch.backends.mps.is_available()
    said = laboratory.broken.error or "nothing against it"
    where = "compares MPS with the CPU" if here else "can only compare the CPU with itself"
    return Outcome(
        {"on MPS": float(laboratory.fixed.value) < 1e-5} if here else {},
        f"Torch says here: `{said}`. People report wrong outputs and crashes with packed input on MPS, and trouble on "
        f"XLA; that is cited, not run here. Run the same batch on the CPU and compare. Here "
        f"the second program {where}: {float(laboratory.fixed.value):.2g} apart.",
        picture(
            numbers("output.data on the CPU", laboratory.fixed["wanted"]),
            numbers(f"output.data on {laboratory.fixed['device']}", laboratory.fixed["output"].cpu()),
        ),
    )

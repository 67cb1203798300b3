"""Entries: export, compile, other backends."""

from __future__ import annotations

from packviz.questions.entries.exporting import (
    ALONE,
    ONE_GRAPH,
    OTHERS,
    PAIR,
    QUIET,
    RUN,
    TO_ONNX,
    TRACED,
    compiled,
    elsewhere,
    to_onnx,
    traced_once,
)
from packviz.questions.model import Entry

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Export, compile, other backends"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="onnx-in-pairs",
        group=GROUP,
        question="Can a model that packs be exported to ONNX?",
        claim="A model that packs gets into the ONNX graph as it is written.",
        broken=ALONE + TO_ONNX,
        fixed=PAIR
        + "import warnings\n"
        + "from io import BytesIO\n"
        + 'warnings.filterwarnings("ignore", "(?!Exporting)")  # all but one\n'
        + "try:\n"
        + "    said = torch.onnx.export(model, (x, lengths), BytesIO(), dynamo=False)\n"
        + "except torch.onnx.OnnxExporterError as error:\n"
        + "    said = str(error)  # past the graph, at the file\n"
        + "said",
        experiment=to_onnx,
        source="pytorch/pytorch issues 49936, 26462, 28423, 48460, 62240; onnx/onnx issue 2334",
        rows=(67,),
        messages=(
            "RuntimeError: ONNX export failed: Cannot export individual pack_padded_sequence or pad_packed_sequence; "
            "these operations must occur in pairs.",
            "UserWarning: Exporting a model to ONNX with a batch_size other than 1, with a variable length with GRU "
            "can cause an error when running the ONNX model with a different batch size.",
        ),
    ),
    Entry(
        key="compile-and-export",
        group=GROUP,
        question="torch.compile or torch.export fails at pack_padded_sequence: what works?",
        claim="A model that packs can be compiled and exported.",
        broken=RUN + ONE_GRAPH,
        fixed=RUN
        + 'compiled = torch.compile(run, backend="eager")\n'
        + "output, wanted = compiled(x, lengths), run(x, lengths)\n"
        + "output.shape, torch.equal(output, wanted)",
        experiment=compiled,
        source="pytorch/pytorch issues 112044, 162375, 118740, pull request 186553",
        rows=(68,),
        messages=(
            "Unsupported: Attempted to call function marked as skipped",
            "Unsupported: Attempted to wrap RNN, GRU, or LSTM",
            "TypeError: zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type must be tuple "
            'of ints,but got FakeTensor"',
        ),
        slow=True,
    ),
    Entry(
        key="traced-for-one-length",
        group=GROUP,
        question="Does torch.jit.trace fix the lengths that I traced with?",
        claim="A traced model is right only for the lengths with which it was traced.",
        broken=PAIR + QUIET + OTHERS["with shorter lengths"] + TRACED + "traced(x, lengths).shape  # traced anew",
        fixed=PAIR
        + QUIET
        + TRACED
        + OTHERS["with shorter lengths"]
        + "output, wanted = traced(x, lengths), model(x, lengths)\n"
        + "output.shape, torch.equal(output, wanted)",
        experiment=traced_once,
        source="pytorch/pytorch issue 12906",
        rows=(69,),
        slow=True,
    ),
    Entry(
        key="mps-and-xla",
        group=GROUP,
        question="Are packed sequences right on MPS and XLA?",
        claim="Packed input gives the same output on every device.",
        broken='packed = pack_padded_sequence(x.to("mps"), lengths, batch_first=True)\ngru.to("mps")(packed)[0].data',
        fixed="packed = pack_padded_sequence(x, lengths, batch_first=True)\n"
        "wanted = gru(packed)[0].data\n"
        'device = "mps" if torch.backends.mps.is_available() else "cpu"\n'
        "output = gru.to(device)(packed.to(device))[0].data\n"
        "(output.cpu() - wanted).abs().max().item()",
        experiment=elsewhere,
        source="pytorch/pytorch issues 95118, 97552, 102911, 90421; pytorch/xla issue 1522",
        rows=(70,),
        messages=("RuntimeError: PyTorch is not linked with support for mps devices",),
    ),
)

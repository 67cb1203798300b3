"""Export, compile, other backends: the verdicts, torch's own words, and what is left behind, which is nothing."""

import sys
from dataclasses import replace

import pytest
import torch
from torch.onnx import is_in_onnx_export

from packviz.questions.answer import Answer, answer
from packviz.questions.entries.backends import ENTRIES
from packviz.questions.model import Entry, Verdict

BY_KEY = {entry.key: entry for entry in ENTRIES}
EXPECTED: dict[str, Verdict] = {
    "onnx-in-pairs": "depends",  # row 67: in pairs only, and padding_value is ignored
    "compile-and-export": "depends",  # row 68: the default compile works, by graph breaks
    "traced-for-one-length": "false",  # row 69: it generalises
    "mps-and-xla": "cited",  # row 70
}


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return {key: answer(entry) for key, entry in BY_KEY.items()}


def test_rows_67_to_70_have_one_entry_each() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == [67, 68, 69, 70]
    assert EXPECTED.keys() == BY_KEY.keys()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_the_verdict_is_the_known_one(entry: Entry, answers: dict[str, Answer]) -> None:
    if entry.key == "mps-and-xla" and torch.backends.mps.is_available():
        pytest.skip("this machine has MPS: there the verdict is measured")
    assert answers[entry.key].outcome.verdict == EXPECTED[entry.key]


def test_the_exporter_refuses_a_pack_without_an_unpack_in_these_words(answers: dict[str, Answer]) -> None:
    done = answers["onnx-in-pairs"]
    refused, warned = done.entry.messages
    assert done.broken.error == refused
    assert [said.startswith(warned) for said in done.fixed.warnings] == [True]
    assert done.fixed.error is None
    assert "`padding_value=-100` leaves no trace" in done.outcome.told


def test_a_pair_without_an_rnn_between_is_refused_too() -> None:
    entry = BY_KEY["onnx-in-pairs"]
    pointwise = entry.broken.replace("super().forward(packed)", "packed, None").replace(
        "return output.data", "return output.data.relu()"
    )
    assert answer(replace(entry, broken=pointwise)).broken.error == entry.messages[0]


def test_exporting_leaves_no_exporter_and_no_tracer_running() -> None:
    answer(BY_KEY["onnx-in-pairs"])
    answer(BY_KEY["traced-for-one-length"])
    assert not is_in_onnx_export()
    assert torch._C._get_tracing_state() is None


def test_only_compiling_with_graph_breaks_takes_packing(answers: dict[str, Answer]) -> None:
    done = answers["compile-and-export"]
    unsupported, _, export = done.entry.messages
    assert done.broken.error is not None
    assert done.broken.error.startswith(unsupported)
    assert f"`{export}`" in done.outcome.told
    torch.testing.assert_close(done.fixed["output"], done.fixed["wanted"])


def test_torch_itself_refuses_to_compile_the_packing_as_one_graph() -> None:
    def pack(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True).data

    x, lengths = torch.ones(2, 2, 1), torch.tensor([2, 1])
    torch._dynamo.reset()
    try:
        with pytest.raises(torch._dynamo.exc.Unsupported, match=r"^Attempted to call function marked as skipped"):
            torch.compile(pack, backend="eager", fullgraph=True)(x, lengths)
        assert torch.equal(torch.compile(pack, backend="eager")(x, lengths), pack(x, lengths))
    finally:
        torch._dynamo.reset()


def test_a_whole_graph_refuses_every_gru_unless_dynamo_may_take_it(answers: dict[str, Answer]) -> None:
    done = answers["compile-and-export"]
    _, wrapped, _ = done.entry.messages
    gru, x = torch.nn.GRU(1, 4, batch_first=True), torch.ones(2, 3, 1)
    torch._dynamo.reset()
    try:
        with pytest.raises(torch._dynamo.exc.Unsupported) as raised:
            torch.compile(gru, backend="eager", fullgraph=True)(x)
        assert f"Unsupported: {str(raised.value).splitlines()[0]}" == wrapped
        torch._dynamo.reset()
        with torch._dynamo.config.patch(allow_rnn=True):
            assert torch.equal(torch.compile(gru, backend="eager", fullgraph=True)(x)[0], gru(x)[0])
    finally:
        torch._dynamo.reset()
    assert f"`fullgraph=True` says `{wrapped}`, and takes it with" in done.outcome.told


def test_a_function_that_packs_nothing_is_compiled_as_one_graph() -> None:
    entry = BY_KEY["compile-and-export"]
    plain = "compiled = torch.compile(torch.relu, backend='eager', fullgraph=True)\ncompiled(x).shape"
    assert answer(replace(entry, broken=plain)).outcome.cases["with torch.compile(fullgraph=True)"]


def test_a_traced_model_gives_the_bits_of_the_model_on_other_lengths(answers: dict[str, Answer]) -> None:
    done = answers["traced-for-one-length"]
    assert not any(done.outcome.cases.values())
    model, traced = done.fixed["model"], done.fixed["traced"]
    for B, T, lengths in ((4, 5, [5, 4, 4, 1]), (1, 2, [2]), (3, 9, [8, 3, 2])):
        x = torch.arange(float(B * T)).view(B, T, 1)
        assert torch.equal(traced(x, torch.tensor(lengths)), model(x, torch.tensor(lengths)))


def test_tracing_says_that_it_is_deprecated(answers: dict[str, Answer]) -> None:
    assert "DeprecationWarning: `torch.jit.trace` is deprecated" in answers["traced-for-one-length"].fixed.shown


@pytest.mark.skipif(sys.platform == "darwin", reason="its torch is linked with MPS")
def test_torch_says_that_mps_is_not_here(answers: dict[str, Answer]) -> None:
    done = answers["mps-and-xla"]
    assert (done.broken.error,) == done.entry.messages
    assert "cited, not run here" in done.outcome.told

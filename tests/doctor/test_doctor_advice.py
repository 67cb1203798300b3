"""What a refusal advises is code that runs and gives what examine() takes."""

import re
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz.errors import PackvizError, first_line

ROWS = [torch.randn(length, 2) for length in (3, 2)]
LENGTHS = [3, 2]
GRU, TIME_FIRST = nn.GRU(2, 4, batch_first=True), nn.GRU(2, 4)
PADDED = torch.nn.utils.rnn.pad_sequence(ROWS, batch_first=True)
with warnings.catch_warnings(action="ignore"):  # nested tensors are a prototype
    NESTED = torch.nested.nested_tensor(ROWS)
    JAGGED = torch.nested.nested_tensor(ROWS, layout=torch.jagged)
RAGGED: dict[str, Any] = {
    "a list of tensors": ROWS,
    "a tuple of tensors": tuple(ROWS),
    "lists": [row.tolist() for row in ROWS],
    "lists of one length": PADDED.tolist(),
    "an array": PADDED.numpy(),
    "a sparse tensor": PADDED.to_sparse(),
    "a nested tensor": NESTED,
    "a jagged tensor": JAGGED,
}
RESULTS: dict[str, Any] = {
    "of a GRU": GRU(PADDED),
    "of an LSTM": nn.LSTM(2, 4, batch_first=True)(PADDED),
    "of a packed run": GRU(pack_padded_sequence(PADDED, LENGTHS, batch_first=True)),
}


def followed(refused: pytest.ExceptionInfo[PackvizError], x: object) -> Any:
    """Carry out the code at the end of the advice."""
    (code,) = re.findall(r"(?:: |with )(\S.*)$", refused.value.fix)
    return eval(code, {"torch": torch, "x": x})


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("kind", RAGGED)
def test_advice_for_ragged_data_gives_the_padded_batch(kind: str, batch_first: bool) -> None:
    given = RAGGED[kind]
    if not batch_first and kind in ("lists of one length", "an array", "a sparse tensor"):
        pytest.skip("has a layout of its own")
    module = GRU if batch_first else TIME_FIRST
    for refused_by in (
        lambda: pv.examine(given, LENGTHS, batch_first=batch_first),
        lambda: pv.examine(module, given, LENGTHS),
        lambda: pv.trace_module(module, given, LENGTHS),
    ):
        with pytest.raises(PackvizError) as refused:
            refused_by()
        x = followed(refused, given)
        torch.testing.assert_close(x, PADDED if batch_first else PADDED.transpose(0, 1))
        assert pv.examine(module, x, LENGTHS) == ()


@pytest.mark.parametrize("kind", RESULTS)
def test_advice_for_what_a_module_returns_is_its_output(kind: str) -> None:
    result = RESULTS[kind]
    with pytest.raises(PackvizError) as refused:
        pv.examine(result, LENGTHS, batch_first=True)
    assert followed(refused, result) is result[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_quantized_layer_is_not_sent_to_watch_which_does_not_see_it() -> None:
    model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.LSTM(2, 4)), {nn.LSTM}, torch.qint8)
    for given in (model, model[0]):
        with pytest.raises(PackvizError, match="before it was quantized") as refused:
            pv.examine(given, PADDED, LENGTHS)
        assert "watch" not in refused.value.fix
    with pytest.raises(PackvizError, match=r"module\.0; pv\.watch\(module\)"):
        pv.examine(nn.Sequential(GRU), PADDED, LENGTHS)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_lengths_that_are_not_finite_are_one_finding(wrong: float) -> None:
    (finding,) = pv.examine(PADDED, torch.tensor([3.0, wrong]), batch_first=True)
    assert (finding.key, finding.severity, finding.sequences) == ("lengths_not_finite", "error", (1,))
    with pytest.raises(PackvizError, match="division by 0"):
        pv.trace_module(GRU, PADDED, [3.0, wrong])  # type: ignore[list-item]


def test_lengths_that_are_too_long_are_to_be_mended_where_they_are_made() -> None:
    (finding,) = pv.examine(PADDED, [4, 2], batch_first=True)
    assert finding.repair.index("Check first how the lengths are computed") < finding.repair.index(".clamp(")
    with pytest.raises(PackvizError, match=r"Compute the lengths before padding.* only if x was cut"):
        pv.trace_module(GRU, PADDED, [4, 2])


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_of_an_error_in_torchscript_the_last_line_is_quoted() -> None:
    class Reshaping(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.view(3, 5)

    with pytest.raises(RuntimeError) as raised:
        torch.jit.script(Reshaping())(torch.zeros(4))
    assert first_line(raised.value) == "RuntimeError: shape '[3, 5]' is invalid for input of size 4"

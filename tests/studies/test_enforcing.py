"""enforce_sorted, both ways, asked of torch."""

import pytest
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz.facts import enforcing


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6 7 8 9", "1 2 3\n4 5\n6", "1\n2\n3", "on your mark\ngo"])
@pytest.mark.parametrize("enforce_sorted", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_each_call_is_told_with_what_torch_made_of_it(text: str, enforce_sorted: bool, batch_first: bool) -> None:
    trace = pv.trace(pv.Batch.parse(text), pv.Config(enforce_sorted=enforce_sorted, batch_first=batch_first))
    x, lengths = trace.padded.values, trace.padded.lengths
    (checked, with_true), (sorts, with_false) = enforcing(trace)
    first = "batch_first=True, " if batch_first else ""
    assert checked == f"pack_padded_sequence(x, lengths, {first}enforce_sorted=True).sorted_indices"
    assert sorts == f"pack_padded_sequence(x, lengths, {first}enforce_sorted=False).sorted_indices"
    assert with_false == repr(pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False).sorted_indices)
    if lengths.tolist() == sorted(lengths.tolist(), reverse=True):
        assert with_true == "None"
        return
    with pytest.raises(RuntimeError) as raised:
        pack_padded_sequence(x, lengths, batch_first, enforce_sorted=True)
    assert with_true == f"RuntimeError: {raised.value}"

"""enforce_sorted, both ways, asked of torch."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz.studies import enforcing


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6 7 8 9", "1 2 3\n4 5\n6", "1\n2\n3", "on your mark\ngo"])
@pytest.mark.parametrize("enforce_sorted", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_each_call_is_told_with_what_torch_made_of_it(text: str, enforce_sorted: bool, batch_first: bool) -> None:
    trace = pv.trace(pv.Batch.parse(text), pv.Config(enforce_sorted=enforce_sorted, batch_first=batch_first))
    x, lengths = torch.zeros(trace.padded.mask.shape).unsqueeze(-1), trace.padded.lengths
    (checked, with_true), (sorts, with_false) = enforcing(trace)
    assert checked.endswith("enforce_sorted=True)")
    assert sorts.endswith("enforce_sorted=False)")
    order = pack_padded_sequence(x, lengths, True, enforce_sorted=False).sorted_indices
    assert order is not None
    assert with_false == f"accepted; sorted_indices = {order.tolist()}"
    if lengths.tolist() == sorted(lengths.tolist(), reverse=True):
        assert with_true == "accepted; sorted_indices = None: nothing was moved"
        return
    with pytest.raises(RuntimeError) as raised:
        pack_padded_sequence(x, lengths, True, enforce_sorted=True)
    assert with_true == f"RuntimeError: {raised.value}"

"""The repair of each finding: a short Python program that uses and sets the argument names of examine()."""

from textwrap import indent

from packviz.rules.repairs import beside, checks, episodes, lengths, rows
from packviz.rules.repairs.program import IMPORT_PACK, PACK_X, Repair, always

_SKIP = indent("raise StopIteration  # skip the empty batch", "    ")
_PACK_AGAIN = always(IMPORT_PACK, "", f"packed = {PACK_X}")
_LEAVE_OUT = always(
    "import torch",
    "",
    "lengths = torch.as_tensor(lengths)",
    "keep = lengths > 0",
    "x = x[keep] if batch_first else x[:, keep]",
    "lengths = lengths[keep]",
)
_SORT_AGAIN = always(
    "import torch",
    "from torch.nn.utils.rnn import PackedSequence",
    "",
    "order = torch.as_tensor(lengths).argsort(descending=True)  # among equal lengths: take the true ones",
    "packed = PackedSequence(packed.data, packed.batch_sizes, order.to(packed.data.device))",
)
_CLIP = always(
    "import torch", "", "torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)  # before each optimizer.step()"
)
_READ_PACKED = always(
    "from torch.nn.utils.rnn import pad_packed_sequence",
    "",
    "_, lengths = pad_packed_sequence(packed)  # the ones that were used to pack",
)

# By the key of the words; what was not examined has no repair.
REPAIRS: dict[str, Repair] = {
    "one_dimension": lengths.make_two_dimensional,
    "empty_batch": always("import torch", "", "if x.numel() == 0:", _SKIP),
    "no_lengths": lengths.give_full_lengths,
    "lengths_dim": always("import torch", "", "lengths = torch.as_tensor(lengths).reshape(-1)"),
    "lengths_device": lengths.copy_lengths,
    "relative_lengths": lengths.multiply_shares,
    "float_lengths": always("import torch", "", "lengths = torch.as_tensor(lengths).long()"),
    "fractional_lengths": lengths.round_lengths,
    **dict.fromkeys(("lengths_not_finite", "wrong_count"), lengths.count_again),
    **dict.fromkeys(("lengths_order", "zero_counted_out", "tokens_dropped"), lengths.count_again),
    **dict.fromkeys(("batch_first", "square"), lengths.turn_layout),
    **dict.fromkeys(("zero_length", "negative_length"), _LEAVE_OUT),
    "length_over_T": lengths.cut_lengths,
    "unsorted": always("enforce_sorted = False"),
    "left_padded": lengths.shift_to_the_left,
    "pads_packed": lengths.count_packed_again,
    **dict.fromkeys(("nan_in_data", "nan_in_packed"), lengths.replace_not_finite),
    "nan_in_pads": lengths.zero_pads,
    **dict.fromkeys(("batch_sizes_kind", "batch_sizes_empty", "batch_sizes_below_1", "batch_sizes_grow"), _PACK_AGAIN),
    **dict.fromkeys(("rows_differ", "empty_packed"), _PACK_AGAIN),
    **dict.fromkeys(("indices_missing", "indices_no_permutation", "indices_not_inverse"), beside.index_again),
    "indices_lost": _SORT_AGAIN,
    "packed_lengths_differ": _READ_PACKED,
    **dict.fromkeys(("mask_shape", "mask_differs"), beside.mask_again),
    "mask_inverted": always("mask = ~mask.bool()"),
    "targets_differ": beside.pack_targets_again,
    "output_layout": always("output = output.transpose(0, 1)"),
    "output_narrower": beside.widen_output,
    "dropout_one_layer": always("module.dropout = 0.0"),
    "data_device": beside.move_data,
    "no_feature_axis": beside.add_feature,
    "integer_data": beside.convert_ids,
    "data_dtype": beside.convert_data,
    "data_dim": beside.flatten_features,
    "features": beside.build_for_features,
    "hx_kind": beside.make_hx,
    "hx_shape": beside.turn_hx,
    "hx_dtype": beside.convert_hx,
    "nan_in_output": _CLIP,
    "state_runs_on": episodes.split_at_starts,
    "state_is_stale": episodes.reset_states,
    **dict.fromkeys(
        ("state_unknown", "state_width", "naive_last", "pads_pooled", "off_by_one", "backward_one_step"),
        beside.read_last_step,
    ),
    **dict.fromkeys(("one_direction", "state_after_pads", "states_mixed", "lower_layer"), beside.read_last_step),
    **dict.fromkeys(("cell_state", "states_order"), beside.read_last_step),
    "unpacked": lengths.count_and_pack,
    "unpacked_left": lengths.shift_and_pack,
    "padded_lengths": beside.use_padded_lengths,
    "unpacked_otherwise": always("output = output.transpose(0, 1)"),
    **rows.REPAIRS,
    **checks.REPAIRS,
}

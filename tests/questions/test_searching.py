"""A question in plain words or a pasted error finds its answer, whatever else stands around it."""

import random
import re

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.show.movie.packing.words import TERMS
from packviz.teach.pages import Page
from packviz.teach.questions import ENTRIES, Entry, has_message, meaning, search, searched

MESSAGES = [(entry, message) for entry in ENTRIES for message in entry.messages]
FIRST = {
    "why do I need to pack": "why-pack",
    "what is packing good for": "why-pack",
    "do I have to pack?": "must-i-pack",
    "is packing required": "must-i-pack",
    "is padding bad": "is-padding-bad",
    "does zero padding hurt my accuracy": "is-padding-bad",
    "do I need this with a transformer": "transformer",
    "should i use packing with bert": "transformer",
    "what is a packed sequence": "what-is-a-packed-sequence",
    "difference between pack_sequence and pack_padded_sequence": "pack-one-way-or-the-other",
    "how do i unpack": "how-to-unpack",
    "so you don't have to mask something by yourself": "still-need-a-mask",
    "you don't have to mask": "still-need-a-mask",
    "RNN will not perform calculation on pad elements": "saves-memory-and-computation",
    "also improving the accuracy of learning": "accuracy-of-learning",
    "# decoded: [max_input_steps, batch_size, DICT_SIZE]": "decoded-steps",
    "decoded max_input_steps": "decoded-steps",
    "batch_first of the module with a packed input": "batch-first-of-the-module",
    "the module's batch_first with packed input": "batch-first-of-the-module",
    "batch_first with packed input": "batch-first-of-the-module",
    "padding_value=42": "padding-value-42",
    "pack_sequence padding_value=42": "padding-value-42",
    "using the pack_sequence function": "pack-one-way-or-the-other",
    "RuntimeError: Expected hidden[0] size (2, 3, 20), got [2, 5, 20]": "hidden-size",
    "Expected hidden[0] size (4, 32, 256), got [4, 64, 256]": "hidden-size",
    "my hidden state has the wrong batch size": "hidden-size",
    "shape '[2, 12]' is invalid for input of size 12": "shape-is-invalid",
    "RuntimeError: shape '[8, 50, 300]' is invalid for input of size 77100": "shape-is-invalid",
    "RuntimeError: shape '[4, 9, 100]' is invalid for input of size 3500": "shape-is-invalid",
    "'tuple' object has no attribute 'batch_sizes'": "tuple-has-no-batch-sizes",
    "input.size(-1) must be equal to input_size. Expected 300, got 256": "input-size",
    "Expected more than 1 value per channel": "one-value-per-channel",
    "my model gives different results with different batch size": "batch-dependence",
    "why do results depend on the other sequences in the batch": "batch-dependence",
    "lengths array has to be on cpu": "lengths-on-the-gpu",
    "1D CPU int64": "lengths-on-the-gpu",
    "lengths must be on cpu": "lengths-on-the-gpu",
    "length greater than 0": "length-zero",
    "how to get last hidden state bidirectional lstm": "bidirectional-last-output",
    "batch_first hidden wrong shape": "batch-first-of-h-n",
    "what is enforce_sorted": "only-not-checked",
    "attention mask": "attention-to-pads",
    "how to use dropout": "dropout-of-one-layer",
    "cross entropy": "packing-or-ignore-index",
    "which hidden state do I use for classification": "last-column",
    "h_n vs output": "output-or-h-n",
    "is it faster": "lstm-slow-when-packed",
    "what is batch_sizes": "batch-sizes-are-not-lengths",
    "left padding": "left-padding-option",
    "pad_sequence or pack_padded_sequence which one": "padding-or-packing",
    "why is my GRU's last output all zeros": "last-column",
    "bidirectinal lst hiden state": "bidirectional-last-output",  # typed in a hurry
    "mean poling": "pooling-over-filler",
    "what is padding": "/padding",
    "check my own data": "/doctor",
    "animation of how packing works": "/overview",
}

REPORTED = {  # asked by people who tried the search: each must find its answer first
    "which hidden state do I use for classification with a bidirectional lstm": "bidirectional-last-output",
    "RuntimeError: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True.": "must-be-sorted",
    "ValueError: expected sequence of length 3 at dim 1 (got 2)": "ragged-nested-list",
    "how do I get lengths from a padded tensor": "lengths-of-a-padded-tensor",
    "how do I unsort the outputs after packing": "unsort-by-hand",
    "why is my last output zero": "last-column",
    "padding left or right for GPT": "left-padding-gpt",
    "do I need packing": "do-i-need-it",
    "why is my loss different with padding": "packing-or-ignore-index",
    "loss changes with padding": "packing-or-ignore-index",
    "do I need this for LSTM": "must-i-pack",
    "Do I need it for a GRU?": "must-i-pack",
    "collate_fn": "do-i-need-it",
    "padding vs packing": "padding-or-packing",
    "mask of the first timestep must all be on": "crf-mask",
    "RuntimeError: input_lengths must be of size batch_size": "ctc-input-lengths",
    "mat1 and mat2 shapes cannot be multiplied (32x128 and 64x10)": "mat1-and-mat2",
    "cudnn RNN backward can only be called in training mode": "cudnn-backward",
    "Kernel size can't be greater than actual input size": "kernel-size",
    "TracerWarning: Converting a tensor to a Python boolean might cause the trace to be incorrect. We can't record the "
    "data flow of Python values, so this value will be treated as a constant": "traced-for-one-length",
    "Expected total_length to be at least the length of the longest sequence in input": "output-shorter-than-mask",
    "got an incorrect number of RNN parameters": "packed-lstm-h-0",
}
MENDED = {  # what learners type, which once found another answer or none
    "my loss counts the zeros": "packing-or-ignore-index",
    "loss counts zeros": "packing-or-ignore-index",
    "why does my loss count the zeros": "packing-or-ignore-index",
    "the loss counts the padding": "packing-or-ignore-index",
    "zeros in the loss": "packing-or-ignore-index",
    "loss includes padding": "packing-or-ignore-index",
    "why do I need padding?": "/padding",
    "why must all sentences be the same length": "/padding",
    "why is my accuracy worse when batch size is bigger": "batch-dependence",
    "does the gpu waste time on padding": "/cost",
    "is there a faster way to train on short and long sentences": "/cost",
    "do zeros in padding change the result": "/compare",
    "should i use attention mask or packing": "transformer",
    "packing in hugging face trl": "/filling_rows",
    "why is h_n different from output[-1]": "output-or-h-n",
    "how many tokens are padding in my dataset": "/padding",
    "padding left or right for gpt": "left-padding-gpt",
    "why left pad for generation": "left-padding-gpt",
    "tokenizer.padding_side": "left-padding-gpt",
    "pad token gpt2": "left-padding-gpt",
    "decoder only left padding warning": "left-padding-gpt",
    "left or right padding": "left-padding-option",
    "does packing make it faster": "worth-it",
    "does packing speed up training": "worth-it",
    "wasted computation padding": "saves-memory-and-computation",
    "mask padding in lstm": "mask-for-an-lstm",
    "masking keras equivalent": "mask-for-an-lstm",
    "attention mask vs padding mask": "attention-to-pads",
    "lstm with attention padding": "attention-to-pads",
    "batch_first": "batch-first-forgotten",
    "loss on padding tokens": "packing-or-ignore-index",
    "half precision packed": "autocast-dtypes",
    "lengths 0 error": "length-zero",
    "seq2seq": "seq2seq",
    "teacher forcing packed": "seq2seq",
    "pad sequence to max length": "fixed-length",
    "dynamic padding": "fixed-length",
    "what value to pad with": "padding-value-42",
    "gather last output": "read-the-last-output",
    "index last timestep": "read-the-last-output",
    "key_padding_mask true or false": "transformer",
    "sort batch by length": "must-be-sorted",
    "input shape lstm": "input-size",
    "lstm output shape": "output-or-h-n",
    "document boundary attention": "packing-for-fine-tuning",
    "audio variable length": "ragged-list",
    "time series variable length": "ragged-list",
    "torchtext iterator": "/cost",
    "bucket iterator": "/cost",
    "padding free": "padding-free-or-packing",
    "reset hidden state between documents": "state-over-the-border",
    "dropout variational packed": "layers-on-data",
    "pad_packed_sequence": "how-to-unpack",
    "eos token between documents": "end-token-enough",
    "left padding": "left-padding-option",
    "pad_sequence or pack_padded_sequence which one": "padding-or-packing",
    "why is my GRU's last output all zeros": "last-column",
    "why is my GRU's last output all zeros for short sequences": "last-column",
    "why is my GRU's last output all zeros for short sequences in the batch": "last-column",
    "last output of my gru is all zeros for shorter sequences": "last-column",
    "my lstm outputs zeros for the short sentences": "zeros-at-the-pads",
    "pad to multiple of 8": "pad-to-multiple",
    "pad_to_multiple_of=8": "pad-to-multiple",
    "numpy to packed sequence": "numpy-arrays",
    "convert numpy arrays of different lengths to a PackedSequence": "numpy-arrays",
    "how do I pad numpy arrays of different lengths": "numpy-arrays",
    "how to create a mask from lengths": "still-need-a-mask",
    "boolean mask for padded sequences pytorch": "still-need-a-mask",
    "why -100 in labels": "packing-or-ignore-index",
    "should enforce_sorted be True or False": "only-not-checked",
    "enforce_sorted onnx": "onnx-in-pairs",
    "when do I need total_length": "output-shorter-than-mask",
    "do I need an attention_mask when padding": "attention-to-pads",
    "position ids after packing": "rope-reset",
    "position_ids for packed sequences": "rope-reset",
    "can i use batch_first=True with pack_padded_sequence": "batch-first-forgotten",
    "masked mean of lstm outputs": "pooling-over-filler",
    "lengths from attention mask": "lengths-of-a-padded-tensor",
    "sort by length descending": "must-be-sorted",
    "should padding be 0 or -1": "padding-value-42",
    "mask loss for padded timesteps": "packing-or-ignore-index",
    "write a collate function that pads": "ragged-list",
    "why do we need padding": "/padding",
    "how to mask the outputs of an lstm": "still-need-a-mask",
    "why do I need to pad": "/padding",
    "do I have to pad": "/padding",
    "must i pad": "/padding",
    "what is the point of padding": "/padding",
    "sequences have different lengths error": "ragged-nested-list",
    "error sequences of different length": "ragged-nested-list",
    "error: my lists have different lengths": "ragged-nested-list",
    "different lengths error": "ragged-nested-list",
}
PLAIN = {  # questions in plain words: at least 36 of the 40 must find their answer first
    "how to pad sequences in a dataloader": "ragged-list",
    "how to make batches of different lengths": "ragged-list",
    "what is pack_padded_sequence": "what-is-a-packed-sequence",
    "what does enforce_sorted do": "only-not-checked",
    "how to get the last output of lstm": "read-the-last-output",
    "why is output[:, -1] zero": "last-column",
    "how does h_n differ from output": "output-or-h-n",
    "is it okay to sort the batch myself": "must-be-sorted",
    "does padding affect batchnorm": "batch-norm",
    "ignore padding in the loss": "packing-or-ignore-index",
    "mask padding in cross entropy": "packing-or-ignore-index",
    "how to average outputs over time ignoring padding": "pooling-over-filler",
    "can I use dropout on a packed sequence": "layers-on-data",
    "linear layer on packed sequence": "layers-on-data",
    "apply embedding to packed sequence": "embed-before-packing",
    "lengths must be on cpu but my tensor is on cuda": "lengths-on-the-gpu",
    "multi gpu dataparallel packed sequence": "packed-into-data-parallel",
    "export lstm with packing to onnx": "onnx-in-pairs",
    "torch.compile with pack_padded_sequence": "compile-and-export",
    "zero length sequence in batch": "length-zero",
    "does padding affect gradients": "gradients",
    "why are my results different with batch size 1": "batch-dependence",
    "how to initialize hidden state lstm with packed sequence": "carry-state",
    "h_0 shape wrong": "rows-of-h-0",
    "what is total_length for": "output-shorter-than-mask",
    "left padding lstm": "left-padding-option",
    "padding_idx embedding gradient": "pad-row-gradient",
    "does packing save memory": "saves-memory-and-computation",
    "is packing slower than padding": "lstm-slow-when-packed",
    "how to iterate over a packed sequence": "len-of-packed",
    "convert packed sequence to list of tensors": "how-to-unpack",
    "bidirectional lstm with padding wrong": "bidirectional-zero-padding",
    "attention over padded encoder outputs": "attention-to-pads",
    "vmap over lstm": "vmap",
    "bf16 lstm packed dtype": "autocast-dtypes",
    "how do I get the shape of a packed sequence": "no-size",
    "does torch check my lengths": "wrong-lengths",
    "custom lstm cell with packed input": "cells-on-packed",
    "data parallel outputs have different widths": "data-parallel-widths",
    "should I train with masks or pack": "do-i-need-it",
}
ROWS = {  # in the words of public threads on packing for transformers
    "attention with packed": "packing-for-fine-tuning",
    "attention with packed sequences": "packing-for-fine-tuning",
    "attention over packed rows": "packing-for-fine-tuning",
    "attention packed": "/attention",
    "is EOS enough to separate packed samples": "end-token-enough",
    "do samples see each other with packing": "end-token-enough",
    "does resetting position_ids isolate packed documents": "positions-isolate",
    "is a reset needed with RoPE": "rope-reset",
    "why is the loss lower with naive packing": "lower-loss",
    "why are tokens dropped with bfd packing": "token-gone",
    "single token sample vanishes in packed position_ids": "one-token-documents",
    "what is cu_seqlens": "cu-seqlens",
    "does a mask help an LSTM": "mask-for-an-lstm",
    "token mean or sample mean with packing": "means-of-a-row",
    "last token of a document predicts the first of the next": "labels-over-the-border",
    "mamba state leaks between documents": "state-over-the-border",
    "causal conv1d leaks over document boundaries": "conv-over-the-border",
    "recurrent ppo reset hidden state at episode start": "episodes",
    "attention mask of ones with packing": "mask-of-ones",
    "trailing zeros in position_ids become documents": "trailing-zeros",
    "packed logprobs differ from padded float noise or bug": "float-noise-or-leak",
    "nan loss when a packed sample has no targets": "document-without-targets",
    "BlockMask sparsity negative": "sparsity-of-a-block-mask",
    "varlen_attn on the CPU": "varlen-on-the-cpu",
    "padding-free vs packing": "padding-free-or-packing",
    "roberta position_ids with packing start at 2": "positions-from-two",
    "keras masking layer equivalent": "mask-for-an-lstm",
    "gru gives nan": "nan",
    "loss is nan": "document-without-targets",
    "why is my loss nan when a sentence is empty": "document-without-targets",
    "empty sentence": "length-zero",
    "loss is nan after padding": "nan",
}
BACK = {  # about the way back, in plain words
    "what is the gradient of a pad": "gradient-of-a-pad",
    "is the gradient of padding zero": "gradient-of-a-pad",
    "which pads receive a gradient": "gradient-of-a-pad",
    "where does a sequence's gradient enter": "gradient-enters",
    "which rows are live going back": "gradient-enters",
    "batch_sizes in the backward pass": "gradient-enters",
    "does padding make gradients vanish": "vanishing-gradients",
    "vanishing gradients": "vanishing-gradients",
    "exploding gradients with packing": "vanishing-gradients",
}
STUDENTS = {  # as a student types it
    "what is teh meaning of batch_sizes": "batch-sizes-are-not-lengths",
    "IndexError: index out of range in self": "index-out-of-range",
    "embedding index out of range": "index-out-of-range",
    "how do I get the last hidden state": "read-the-last-output",
    "final state of each sequence": "read-the-last-output",
    "enforce_sorted error": "must-be-sorted",
    "collate_fn example": "do-i-need-it",
    "what is h_0": "order-of-h-0",
    "how do i concat forward and backward hidden states": "bidirectional-last-output",
    "why do i get zeros at the end of my lstm output": "zeros-at-the-pads",
    "targets and outputs have different time dimension": "output-shorter-than-mask",
    "what happens if my lengths are wrong": "wrong-lengths",
    "are my sentences still in the same order after unpacking": "order-after-unpacking",
    "is the pad embedding updated during training": "pad-row-gradient",
    "does packing work on apple mps": "mps-and-xla",
    "should the hidden state be zeroed for every batch": "fresh-state",
    "can one document attend to another in a packed row": "packing-for-fine-tuning",
    "prediction for one sentence changes if other sentences are in the batch": "batch-dependence",
    "return pack_sequence from collate_fn": "collate-returns-packed",
    "how do i mask attention over padding": "attention-to-pads",
    "why is my gradient nan": "nan",
    "is a gru cell able to use packed input": "cells-on-packed",
    "how do I get lengths": "lengths-of-a-padded-tensor",
    "get lengths": "lengths-of-a-padded-tensor",
    "how to get the lengths": "lengths-of-a-padded-tensor",
    "compute lengths": "lengths-of-a-padded-tensor",
    "out[:, -1]": "last-column",
    "out[:,-1] is zero": "last-column",
    "output[:, -1] wrong": "last-column",
    "lstm_out[:, -1, :]": "last-column",
    "index out of range": "index-out-of-range",
    "dimension out of range": "one-axis",
    "why is my h_n wrong": "why-pack",
    "pack vs pad": "pack-one-way-or-the-other",
    "what does batch_sizes mean": "batch-sizes-are-not-lengths",
    "variable length lstm": "do-i-need-it",
    "how to sort": "must-be-sorted",
    "how to pad sequences": "/padding",
    "loss ignore padding": "packing-or-ignore-index",
    "how to mask loss": "packing-or-ignore-index",
    "hidden state of last word": "read-the-last-output",
    "get last output": "read-the-last-output",
    "multi layer h_n": "order-of-h-n",
    "sentence lengths differ": "ragged-list",
    "how does pad_packed_sequence work": "how-to-unpack",
    "pack_padded_sequence example": "do-i-need-it",
    "how to convert lengths to mask": "still-need-a-mask",
    "memory usage of padding": "saves-memory-and-computation",
    "pass hidden state between batches": "carry-state",
    "seq2seq decoder packing": "seq2seq",
    "truncate long sequences": "lengths-too-small",
    "when should i pad": "/padding",
    "why is my output all zeros after the end": "zeros-at-the-pads",
    "why does my output contain zeros": "zeros-at-the-pads",
    "what happens to the padding in an lstm": "is-padding-bad",
    "does padding affect the hidden state": "small-effect",
    "why is my h_n in a different order than the input": "unsort-by-hand",
    "why does the result change when I pad more": "batch-dependence",
    "can I slice a packed sequence": "len-of-packed",
    "is packing faster than padding": "worth-it",
    "how do I turn packed sequence back into padded": "how-to-unpack",
    "hidden state wrong because of padding": "why-pack",
    "what if all sequences have the same length": "must-i-pack",
    "how to mask loss for pads": "packing-or-ignore-index",
    "my loss goes down but the model predicts only padding": "packing-or-ignore-index",
    "why is my output longer": "zeros-at-the-pads",
    "why are there zeros in my tensor": "zeros-at-the-pads",
    "get last output of each sequence": "read-the-last-output",
    "unsort hidden state": "unsort-by-hand",
    "pack_padded_sequence error lengths cpu": "lengths-on-the-gpu",
    "batch_sizes cpu or gpu": "lengths-on-the-gpu",
    "my lstm output has two things which one do i use": "output-or-h-n",
    "do i have to sort by length": "must-be-sorted",
    "does order of the batch matter": "must-be-sorted",
    "what number should i pad with": "padding-value-42",
    "why does packed data have fewer rows than my tensor": "a-row-a-token",
    "is packing the same as masking": "still-need-a-mask",
    "can i pack after embedding": "embed-before-packing",
    "what if my sentence has length 0": "length-zero",
    "can i use packing with cnn": "layers-on-data",
    "how to concatenate both directions": "bidirectional-last-output",
    "how do i batch sentences of different length": "ragged-list",
    "what does pad_packed_sequence return": "how-to-unpack",
    "my gpu runs out of memory because of one long sequence": "/cost",
    "token budget": "/cost",
    "gpu out of memory": "saves-memory-and-computation",
    "out of memory": "saves-memory-and-computation",
    "stack expects each tensor to be equal size": "ragged-list",
}
BOTH = (
    "when should i pack",
    "should I pack",
    "Must I pack?",
    "do i need packing",
    "do i need to pack my batch",
    "should i pack my batch",
)  # of two answers to it
UNANSWERED = (
    "how do I learn python",
    "what is the capital of France",
    "beam search decoding",
    "learning rate schedule for transformers",
    "quantized lstm",
)
CHECKED = {**REPORTED, **ROWS, **BACK, **STUDENTS, **MENDED}.items()


def name_of(found: Entry | Page) -> str:
    return found.key if isinstance(found, Entry) else f"/{found.address}"


@pytest.mark.parametrize(("typed", "first"), FIRST.items())
def test_a_plain_question_finds_its_answer_on_top(typed: str, first: str) -> None:
    assert [name_of(each) for each in search(typed).found][:1] == [first]


@pytest.mark.parametrize(("typed", "first"), CHECKED)
def test_a_reported_search_finds_its_answer_on_top(typed: str, first: str) -> None:
    assert [name_of(each) for each in search(typed).found][:1] == [first]
    assert search(typed).fits


def test_how_to_sort_is_answered_by_what_sorts_the_batch() -> None:
    assert [name_of(each) for each in search("how to sort").found[:2]] == ["must-be-sorted", "/sorting"]


def test_an_output_of_zeros_is_answered_by_both_entries_on_it() -> None:
    found = search("why is my output all zeros after the end").found
    assert [name_of(each) for each in found[:2]] == ["zeros-at-the-pads", "last-column"]


@pytest.mark.parametrize("typed", BOTH)
def test_whether_to_pack_is_answered_first_by_both_entries_on_it(typed: str) -> None:
    assert {name_of(each) for each in search(typed).found[:2]} == {"do-i-need-it", "must-i-pack"}


def test_nine_of_ten_plain_questions_find_their_answer_on_top() -> None:
    missed = {typed: first for typed, first in PLAIN.items() if name_of(search(typed).found[0]) != first}
    assert len(PLAIN) == 40
    assert len(missed) <= 4, missed


@pytest.mark.parametrize("typed", UNANSWERED)
def test_a_question_that_nothing_answers_gets_at_most_three_results(typed: str) -> None:
    assert not search(typed).fits
    assert len(search(typed).found) <= 3


@pytest.mark.parametrize("typed", ["pizza recipe", "how do I learn python", "best holiday destinations"])
def test_a_question_on_another_subject_finds_nothing(typed: str) -> None:
    assert search(typed).found == ()


def test_the_error_of_a_length_that_is_too_large_finds_its_entry() -> None:
    packed = pack_padded_sequence(torch.zeros(3, 5, 2), torch.tensor([6, 4, 2]), batch_first=True)
    with pytest.raises(RuntimeError, match="exceeds dimension size") as raised:
        torch.nn.LSTM(2, 3, batch_first=True)(packed)
    printed = str(raised.value)
    for typed in (printed, f"RuntimeError: {printed}", f'the LSTM raises RuntimeError: "{printed}"'):
        assert [name_of(each) for each in search(typed).found][:1] == ["lengths-too-large"]


def others(message: str, seed: int) -> str:
    """Return the message as somebody else gets it: other numbers."""
    draw = random.Random(seed)
    return re.sub(r"\d+", lambda _: str(draw.randint(2, 999)), message)


def test_an_error_with_other_numbers_finds_an_entry_that_has_it() -> None:
    missed = []
    for entry, message in MESSAGES:
        same = [each for each in ENTRIES if any(words(message) == words(other) for other in each.messages)]
        found = search(others(message, len(message))).found
        if found[0] not in same and entry not in found[:3]:
            missed.append((entry.key, message, [name_of(each) for each in found]))
    assert missed == []


def test_a_whole_traceback_finds_it_too() -> None:
    head = """Traceback (most recent call last):
  File "train.py", line 71, in <module>
    output, hidden = model(inputs, lengths)
  File "model.py", line 18, in forward
    packed = self.rnn(x)
"""
    found = {(entry.key, message): search(f"{head}{others(message, 7)}\n").found for entry, message in MESSAGES}
    first = {message: all_found[0] for (_, message), all_found in found.items()}
    assert [each for each, entry in first.items() if isinstance(entry, Page) or not has_message(entry, each)] == []
    assert [key for (key, _), all_found in found.items() if key not in map(name_of, all_found)] == []


def test_an_entry_is_found_by_its_own_question() -> None:
    assert [entry.key for entry in ENTRIES if entry not in search(entry.question).found[:3]] == []


def test_nothing_is_found_for_nothing_and_for_nonsense() -> None:
    for typed in ("", " \n ", "qwzx vbnq", "asdfgh"):
        assert search(typed).found == ()


@pytest.mark.parametrize("typed", ['"', "' OR 1", "a* NEAR(", "question: AND NOT", "^x -y", "\x00", "日本語 pack"])
def test_the_language_of_the_index_is_not_that_of_the_visitor(typed: str) -> None:
    search(typed)  # raises nothing


def words(text: str) -> list[str]:
    return re.findall(r"[a-z_]+", text.lower())


@pytest.mark.parametrize("term", TERMS)
def test_what_a_term_means_is_told_to_who_asks_for_it(term: str) -> None:
    for question in (term, f"what is {term}", f"What is a `{term}`?"):
        told = meaning(question)
        assert told.startswith(term)
        assert told.endswith(TERMS[term])


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("what is a pad", "pads"),
        ("masks", "mask"),
        ("What does enforce_sorted mean?", "enforce_sorted"),
        ("what is batch size", "batch_sizes"),
        ("gate", "gates"),
    ],
)
def test_a_term_is_known_however_it_is_spelled(question: str, term: str) -> None:
    assert meaning(question).endswith(TERMS[term])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what is a token", "token: one item of a sequence"),
        ("Tokens", "token: one item of a sequence"),
        ("What is a timestep?", "time step: a position t"),
        ("what is an rnn", "RNN: a recurrent neural network"),
    ],
)
def test_a_plain_word_has_a_meaning_too(question: str, told: str) -> None:
    assert meaning(question).startswith(told)


@pytest.mark.parametrize("question", ["", "?", "what is a mask good for", "qwzx"])
def test_other_questions_get_no_meaning(question: str) -> None:
    assert meaning(question) == ""


@pytest.mark.parametrize("text", [MESSAGES[0][1], f"Traceback\n  x = 1\n{MESSAGES[0][1]}", "why pack?", "word " * 9999])
def test_what_is_searched_finds_the_same_as_the_whole_text(text: str) -> None:
    part = searched(text)
    assert len(part) < 2_001
    assert search(part) == search(text)


@pytest.mark.parametrize("text", ["What does batch_sizes mean", "why is my loss nan", "is packing faster than padding"])
def test_an_answer_that_is_off_the_subject_is_not_listed(text: str) -> None:
    off = {"one-value-per-channel", "pooling-over-filler", "three-means", "why-pack"}
    assert not off & {each.key for each in search(text).found if isinstance(each, Entry)}

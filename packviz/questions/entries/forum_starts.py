"""Entries: a forum thread on both functions, on the hidden state at the start of a batch."""

from __future__ import annotations

from functools import partial

import torch

from packviz.batch import sequence_label
from packviz.questions.entries.forum_example import GROUP, SOURCE
from packviz.questions.entries.marking import close
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import numbers, picture

__all__ = ["ENTRIES"]

_SEEDS = range(6)
_LEARN = """\
torch.manual_seed({seed})
gru = nn.GRU(1, 4, batch_first=True).double()
head = nn.Linear(4, 2).double()
weights = [*gru.parameters(), *head.parameters()]
x = torch.randn(220, 3, 1).double()
y = (x.sum((1, 2)) + torch.randn(220) > 0).long()
for _ in range(25):
    _, h_n = gru(x[:20], torch.{start}(1, 20, 4).double())
    loss = nn.functional.cross_entropy(head(h_n[0]), y[:20])
    for weight, grad in zip(weights, torch.autograd.grad(loss, weights)):
        weight.data -= 0.08 * grad.sign()
right = (head(gru(x)[1][0]).argmax(1) == y).double()
right[:20].mean().item(), right[20:].mean().item()"""
_TWICE = """\
_, h_n = gru(x[:, :2])
h_n.sum().backward()
_, h_n = gru(x[:, 2:], h_n)
h_n.sum().backward()"""


def _fresh(laboratory: Laboratory) -> Outcome:
    first = laboratory.run("gru(x)[1][0].detach()").value
    fresh, carried = laboratory.fixed.value, laboratory.broken.value
    zeros = laboratory.run("_, h_n = gru(x)\ngru(x, torch.zeros_like(h_n))[1][0].detach()").value
    rows = [sequence_label(b) for b in range(len(first))]
    moved = float((carried - first).abs().max())
    return Outcome(
        {"with hx left out": not close(fresh, first), "with hx of zeros": not close(zeros, first)},
        f"It is the other way round. Without `hx` every call starts from zeros: the second `h_n` and the "
        f"first differ by {float((fresh - first).abs().max()):.1g}. Only where `h_n` is handed on, the state of the "
        f"sentence before is used; that moves the result by up to {moved:.2f}.",
        picture(numbers("h_n, started anew", fresh, rows=rows), numbers("h_n, carried", carried, rows=rows)),
    )


def _random_start(laboratory: Laboratory) -> Outcome:
    firsts = {"zeros": laboratory.fixed, "randn": laboratory.broken}
    runs = {
        start: torch.tensor(
            [first.value, *(laboratory.run(_LEARN.format(seed=seed, start=start)).value for seed in _SEEDS[1:])]
        )
        for start, first in firsts.items()
    }
    gaps = {start: (done[:, 0] - done[:, 1]).tolist() for start, done in runs.items()}
    (_, new), (_, new_randn) = ((100 * runs[start].mean(0)).tolist() for start in firsts)
    rows, columns = [str(seed) for seed in _SEEDS], ("seen", "new")
    smaller = [randn < zeros for zeros, randn in zip(gaps["zeros"], gaps["randn"], strict=True)]
    return Outcome(
        dict(zip((f"with seed {seed}" for seed in _SEEDS), smaller, strict=True)),
        f"The thread has no evidence. In {len(_SEEDS)} small trainings (20 sequences to learn, 200 new ones) a random "
        f"start had the smaller gap between seen and new {sum(smaller)} times; on new sequences the mean is "
        f"{new_randn:.1f} % instead of {new:.1f} %. So few runs of one small task cannot show what yours will do: "
        "try both, with several seeds.",
        picture(
            numbers("zeros, by seed", runs["zeros"], rows=rows, columns=columns),
            numbers("random, by seed", runs["randn"], rows=rows, columns=columns),
        ),
    )


def _carry(laboratory: Laboratory) -> Outcome:
    whole = laboratory.run("gru(x)[1][0].detach()").value
    first = laboratory.run("gru(x[:, :2])[1][0].detach()").value
    epoch = laboratory.run("_, h_n = gru(x)\ngru(x[:, :2], h_n)[1][0].detach()").value
    twice = laboratory.run(_TWICE).error
    own, other = laboratory.fixed.value, laboratory.broken.value
    rows = [sequence_label(b) for b in range(len(whole))]
    wrong = [(b, i) for b in range(len(whole)) for i in range(whole.size(1)) if not close(other[b, i], whole[b, i])]
    return Outcome(
        {
            "where row b goes on with its own text": close(own, whole),
            "where row b is another text": close(other, whole),
            "at the start of an epoch": close(epoch, first),
        },
        "Take zeros (leave `hx` out) for texts that have nothing to do with each other, and at the start of an epoch. "
        f"Carry `h_n` where row b goes on: then two halves give what the whole gives. Write `h_n.detach()`; without it "
        f"the second `backward()` {'fails' if twice else 'goes on into the batch before'}.",
        picture(
            numbers("whole text", whole, rows=rows),
            numbers("own state", own, rows=rows),
            numbers("state of another", other, rows=rows, wrong=wrong),
        ),
    )


def _one_state(laboratory: Laboratory) -> Outcome:
    state = "torch.zeros(1, 1, 4)"
    done = {
        "with a padded batch": laboratory.run(f"gru(x, {state})"),
        "with a packed batch": laboratory.broken,
    }
    h_n = laboratory.fixed["h_n"]
    rows = [sequence_label(b) for b in range(h_n.size(1))]
    return Outcome(
        {how: program.error is None for how, program in done.items()},
        f"Each dialogue in the batch has a row of its own in `hx`, {tuple(h_n.shape)}; left out, all are zeros. The "
        "decoder of a chatbot takes the encoder's `h_n` as it is: its rows stand in the order in which the dialogues "
        f"came, and the decoder's output is {tuple(laboratory.fixed.value)}.",
        picture(numbers("the encoder's h_n, a row a dialogue", h_n[0], rows=rows)),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="forum-fresh-state",
        question="Does initialising hidden at every minibatch use the previous sentence's state?",
        claim="To initialise the hidden state at each minibatch means to use that of the sentence before.",
        broken="_, h_n = gru(x)\n_, h_n = gru(x, h_n)  # goes on from the batch before\nh_n[0].detach()",
        fixed="_, h_n = gru(x)\n_, h_n = gru(x)  # starts from zeros again\nh_n[0].detach()",
        experiment=_fresh,
    ),
    _Claim(
        key="forum-random-start",
        question="Does a random initial hidden state lower the risk of overfitting?",
        claim="There is less risk of overfitting when the hidden state starts from random numbers.",
        broken=_LEARN.format(seed=0, start="randn"),
        fixed=_LEARN.format(seed=0, start="zeros"),
        experiment=_random_start,
        slow=True,
    ),
    _Claim(
        key="forum-carry-state",
        question="How do I initialise or carry hidden over minibatches and epochs?",
        claim="The final state of one batch is the right start of the next one.",
        broken="_, h_n = gru(x[:, :2])\n"
        "_, h_n = gru(x[:, 2:], h_n.flip(1).detach())  # the other text's\nh_n[0].detach()",
        fixed="_, h_n = gru(x[:, :2])\n_, h_n = gru(x[:, 2:], h_n.detach())\nh_n[0].detach()",
        experiment=_carry,
        messages=(
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after "
            "they have already been freed). Saved intermediate values of the graph are freed when you call .backward() "
            "or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
            "if you need to access saved tensors after calling backward.",
        ),
        batch="1 -2 3 1\n2 1 -1 2",
    ),
    _Claim(
        key="forum-chatbot-state",
        question="How do I initialise the hidden state of a batch of dialogues, for a chatbot?",
        claim="One initial state of size (1, 1, H) serves all dialogues of a batch.",
        broken=PACK + "gru(packed, torch.zeros(1, 1, 4))",
        fixed=PACK
        + "_, h_n = gru(packed)\n"
        + "decoder = nn.GRU(1, 4, batch_first=True)\n"
        + "start = torch.zeros(len(x), 1, 1)\n"
        + "decoder(start, h_n)[0].shape",
        experiment=_one_state,
        messages=(
            "RuntimeError: INDICES element is out of DATA bounds, id=1 axis_dim=1",
            "RuntimeError: Expected hidden size (1, 3, 4), got [1, 1, 4]",
        ),
        batch="1 2\n3 4 5\n6",
    ),
)

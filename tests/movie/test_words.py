"""Every number and every letter in a caption is true; a caption is one or two plain sentences."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import torch
from movie_cases import CASES, Case, case_of, over
from movie_screen import listed, shape_of
from seeds import some
from torch.nn.utils import rnn

import packviz as pv
from packviz import Batch, Config
from packviz.inputs.examples import EXAMPLES, Example
from packviz.show.movie import STAGES, TERMS, beside
from packviz.show.movie.kinds import ROWS_MOVIE

each_case = over(CASES)

LISTED = r"\[([^\]]*)\]"
CHIP = r"\{[A-Z]+\}"
CHIPS = rf"{CHIP}(?:(?:, | and ){CHIP})*(?:, … {CHIP} \(\d+ sequences\))?"


@dataclass(frozen=True)
class Moment:
    """A step with its caption; t is its time step, None if it has none."""

    case: Case
    stage: str
    t: Any
    caption: str

    @property
    def live(self) -> list[int]:
        return self.case.live(self.t)

    @property
    def at_their_last_step(self) -> list[int]:
        """The live sequences of which this is the last time step."""
        return [b for b in self.live if self.case.lengths[b] == self.t + 1]

    @property
    def ended_last(self) -> list[int]:
        """Of the sequences that ended before this time step, going forward, those that ended last."""
        over = [b for b in self.case.order if self.case.lengths[b] <= self.t]
        return [b for b in over if self.case.lengths[b] == max(self.case.lengths[a] for a in over)]


def moments(case: Case) -> Iterator[Moment]:
    order = range(min(len(case.batch_sizes), 60)) if not case.refused else ()
    packed, taken = iter(order), iter([None, *(reversed(order) if case.direction else order)])
    for step in case.show.steps:
        t = next({"pack": packed, "run": taken}.get(step["stage"], iter([None])))
        yield Moment(case, step["stage"], t, step["caption"])


def pads(case: Case) -> int:
    return case.B * case.T - sum(case.lengths)


def padded(moment: Moment) -> list[int]:
    """Return the sequences that have a pad at the time step."""
    return [b for b in moment.case.order if not moment.case.mask[b][moment.t]]


def back(case: Case) -> list[int]:
    return [*case.packed.unsorted_indices.tolist()]


def mover(m: Moment) -> int:
    """Return the first sequence that the sort has moved."""
    return next(b for b in m.case.rows if back(m.case)[b] != b)


def empty(case: Case) -> int:
    """Return how many places of the unpacked output are filler."""
    return case.B * case.unpacked.shape[1] - sum(case.lengths)


# Patterns whose groups are these whole numbers.
NUMBERS: list[tuple[str, Callable[[Moment], list[int]]]] = [
    (r"\*\*t = (\d+)\.\*\*", lambda m: [m.t]),
    (r"(\d+) rows? \(\*\*batch_sizes\[(\d+)\]\*\*\)", lambda m: [m.case.batch_sizes[m.t], m.t]),
    (r"batch_sizes\[(\d+)\] = (\d+)", lambda m: [m.t, m.case.batch_sizes[m.t]]),
    (r"The batch_sizes sum to (\d+)", lambda m: [len(m.case.at)] if m.t == len(m.case.batch_sizes) - 1 else []),
    (r"(?:data\*\* now has|become the first) (\d+) rows", lambda m: [sum(m.case.batch_sizes[: m.t + 1])]),
    (r"\*\*(\d+) sequences\*\*", lambda m: [m.case.B]),
    (r"(?:of|have) length (\d+)", lambda m: [*set(m.case.lengths)]),
    (r"time step\. The shape is \((\d+), (\d+)\)", lambda m: [m.case.T, m.case.B]),
    (r"but (\d+) of these rows (?:is|are) padding", lambda m: [len(m.case.strays)]),
    (r"(\d+) pads? (?:was|were) packed and (\d+) tokens? (?:was|were) lost", lambda m: 2 * [len(m.case.strays) or -1]),
    (r"\bT = (\d+)", lambda m: [m.case.T]),
    (r"\bF = (\d+) numbers?", lambda m: [m.case.x.shape[-1]]),
    (r"which reads layer (\d+)'s output", lambda m: [m.case.watched[0] - 1]),
    (r"You are watching (?:the \*\*\w+ direction\*\* of )?\*\*layer (\d+)\*\*", lambda m: [m.case.watched[0]]),
    (r"of the top layer, layer (\d+)", lambda m: [m.case.module.num_layers - 1]),
    (r"ended at t = (\d+)", lambda m: [m.case.lengths[m.ended_last[0]] - 1]),
    (r"'s (\d+) output rows?", lambda m: [len(m.case.at)]),
    (r"the (\d+) empty cells?", lambda m: [empty(m.case)]),
    (r"\((\d+), (\d+)\)", lambda m: [*m.case.output.data.shape]),
]
Claim = Callable[[Moment, re.Match[str]], bool]
CLAIMS: list[tuple[str, Claim]] = [
    (
        r"(?<= with )(\S+)(?= up to length)",
        lambda m, found: float(found[1].replace("−", "-")) == filler_of_the_grid(m.case),
    ),
    (rf"(?:lengths|length\*\*, not) {LISTED}", lambda m, found: listed(found[1], m.case.lengths)),
    (rf"\*\*sorted_indices\*\* = {LISTED}", lambda m, found: listed(found[1], m.case.order)),
    (
        rf"\*\*unsorted_indices\*\* = {LISTED} restores the original order: {CHIP} moves from "
        r"(row|column) (\d+) to \2 (\d+)",
        lambda m, found: (
            (found[2] == "column") == m.case.transposed
            and [int(found[3]), int(found[4])] == [back(m.case)[mover(m)], mover(m)]
            and listed(found[1], back(m.case))
        ),
    ),
    (rf"\*\*unsorted_indices\*\* = {LISTED}", lambda m, found: listed(found[1], back(m.case))),
    (
        rf"({CHIP}), which was (?:row|column) (\d+)",
        lambda m, found: found[1] == m.case.said([int(found[2])]),
    ),
    (r"(\d+) of (\d+) cells(?= \()", lambda m, found: shape_of(found[0]) == (pads(m.case), m.case.B * m.case.T)),
    (r"\((\d+|under 1|over 99)%\)", lambda m, found: is_percentage(found[1], pads(m.case) / (m.case.B * m.case.T))),
    (
        r"padding_value = (\S+)\*\*",
        lambda m, found: float(found[1]) == pytest.approx(m.case.trace.padding_value, rel=1e-3, nan_ok=True),
    ),
    (
        r"total_length=(\d+) gives the grid (\d+) time steps",
        lambda m, found: set(shape_of(found[0])) == {m.case.unpacked.shape[1], m.case.trace.total_length},
    ),
    *((pattern, lambda m, found, true=true: [*map(int, found.groups())] == true(m)) for pattern, true in NUMBERS),
    (r"at t\s=\s0\b", lambda m, _: m.case.D == 2),
    (r"\bout(?:put)?\[(:,\s)?-1\]", lambda m, found: bool(found[1]) != m.case.transposed),
    (r"\b[hc]_n\[(-?\d+)\]", lambda m, found: is_row(m, int(found[1]))),
    (r"\b[hc]_0\[(\d+)\]", lambda m, found: is_row(m, int(found[1]))),
    (r"\b[hc]_0\b", lambda m, _: m.stage == "run"),
    (r"\((\d+) sequences\)", lambda *_: True),  # counted with the letters
]


def is_row(m: "Moment", row: int) -> bool:
    """Return whether a row of h_n is the one that is meant: of the watched states, or else the last one."""
    if m.stage == "run":
        return row % len(m.case.trace.h_n) == m.case.row_of_h
    return row == -1 and m.case.D == 1


def is_percentage(text: str, share: float) -> bool:
    if not text.isdigit():
        return {"under 1": 0 < share < 0.01, "over 99": 0.99 < share < 1}[text]
    return abs(int(text) - 100 * share) <= 0.5 and (share == 0) == (text == "0")


def filler_of_the_grid(case: Case) -> float:
    return float(case.config.padding_value if case.trace.padded.embedding is None else case.config.padding_idx or 0)


@each_case
def test_every_number_in_a_caption_is_true(case: Case) -> None:
    for moment in moments(case):
        rest = moment.caption
        for pattern, holds in CLAIMS:
            for found in re.finditer(pattern, rest):
                assert holds(moment, found), f"{found[0]!r} in {moment.caption!r}"
            rest = re.sub(pattern, " ", rest)
        assert not re.search(r"\d", rest), f"a number that nothing is known about: {moment.caption!r}"


def first_refused(case: Case) -> int:
    return next(b for b in range(1, case.B) if case.lengths[b] > case.lengths[b - 1])


def ended(m: Moment) -> list[int]:
    """Return the sequences whose state is final after this step of the run."""
    if m.case.direction:
        return m.live if m.t == 0 else []
    return m.at_their_last_step


LETTERS: list[tuple[str, Callable[[Moment], list[int]]]] = [
    (rf"The batch has one sequence, ({CHIPS})", lambda _: [0]),
    (rf"pad_sequence\*\* fills ({CHIPS}) ", lambda m: [b for b in range(m.case.B) if m.case.lengths[b] < m.case.T]),
    (rf"({CHIP}), which was (?:row|column) \d+, comes first", lambda m: m.case.order[:1]),
    (rf"({CHIP}) moves from (?:row|column) \d", lambda m: [mover(m)]),
    (rf"({CHIPS}) is longer than", lambda m: [first_refused(m.case)]),
    (rf"is longer than ({CHIPS})", lambda m: [first_refused(m.case) - 1]),
    (rf"(?i:only) ({CHIPS}) (?:has|have) a token\b", lambda m: m.live),
    (rf"but ({CHIPS}) (?:has|have) a pad here", lambda m: [b for b in m.live if not m.case.mask[b][m.t]]),
    (
        rf"the tokens? of ({CHIPS}) here (?:is|are) dropped without a warning",
        lambda m: [b for b in m.case.order if m.case.mask[b][m.t] and b not in m.live],
    ),
    (rf"reads ({CHIPS})(?:,| \()", lambda m: m.live),
    (rf", not ({CHIP})'s pad \(", padded),
    (rf"({CHIPS}) starts?(?: from h_0|, and all)", lambda m: m.at_their_last_step),
    (rf"({CHIPS}) ends?(?: here|:)", ended),
    (rf"({CHIPS}) ended at t", lambda m: m.ended_last),
    (rf"which is wrong for ({CHIPS})", lambda m: sorted(set(m.case.strays))),
    (
        rf"Do not read \*\*out\[(?:-1|:,\s-1)\]\*\*: it is padding for ({CHIPS})",
        lambda m: [b for b in range(m.case.B) if m.case.lengths[b] < m.case.unpacked.shape[1]],
    ),
]


@each_case
def test_every_letter_in_a_caption_is_that_of_its_sequence(case: Case) -> None:
    letters = {"{" + letter + "}" for letter, *_ in case.show.data["sequences"]}
    for moment in moments(case):
        assert set(re.findall(CHIP, moment.caption)) <= letters
        rest = moment.caption
        for pattern, truth in LETTERS:
            for found in re.finditer(pattern, moment.caption):
                assert found[1] == case.said(truth(moment)), moment.caption
                rest = rest.replace(found[1], "")
        assert not re.search(CHIP, rest), f"letters that nothing is known about: {moment.caption!r}"


@each_case
def test_a_caption_is_one_or_two_sentences_of_good_english(case: Case) -> None:
    for caption in (step["caption"] for step in case.show.steps):
        plain = re.sub(r"^\*\*t = \d+\.\*\*", "", caption).replace("*", "")
        assert 1 <= len(re.findall(r"[.!?](?=\s|$)", plain)) <= 2, caption
        assert plain.endswith(".")
        many = r"(?<![\w.,])1 (sequences|rows|places|numbers|tokens|packed rows|cells|empty cells)\b"
        assert not re.search(many, caption), caption
        one = rf"(?<!and )(?<!, )\b{CHIP} (are|have|start) "
        assert not re.search(one, caption.replace("} and {", "} , {")), caption
        assert "  " not in caption
        assert caption == caption.strip()


@each_case
def test_every_row_of_h_is_said_to_change_only_if_it_is_live(case: Case) -> int:
    live = [moment for moment in moments(case) if moment.stage == "run" and moment.t is not None]
    for moment in live:
        everyone = len(case.live(moment.t)) == case.B
        assert everyone or "very" not in moment.caption
        assert bool(re.search(r" reads \{", moment.caption)) == (not everyone or case.B == 1)
    return len(live)


@each_case
def test_the_pads_that_are_not_read_are_said_where_there_are_some_and_none_is_read(case: Case) -> int:
    taken = [moment for moment in moments(case) if moment.stage == "run" and moment.t is not None]
    for moment in taken:
        pads = {*padded(moment)}
        spared = bool(pads) and not pads & {*case.live(moment.t)}
        assert ("'s pad (" in moment.caption) == (spared and len(pads) == 1)
        assert (", no pads (" in moment.caption) == (spared and len(pads) > 1)
    return len(taken)


@each_case
def test_c_is_said_to_be_kept_and_returned_just_for_an_lstm(case: Case) -> int:
    told = {
        "h changes": "h and c changes",
        "h_n": "c_n",
        "from h_0": "h_0 and c_0",
    }
    spoke = 0
    for moment in moments(case):
        if moment.stage == "run" and moment.t is not None:
            states = {words for words in told if words.replace("h changes", "Every row of h") in moment.caption}
            spoke += len(states)
            for words in states:
                assert (told[words] in re.sub(r"\[-?\d+\]", "", moment.caption)) == isinstance(
                    case.module, torch.nn.LSTM
                )
    return spoke


def takes_tokens(m: Moment) -> bool:
    """Whether those that end at this step of the run, or start, do so with a token."""
    if m.stage != "run" or m.t is None:
        return True
    return all(m.case.mask[b][m.t] for b in ended(m) or m.at_their_last_step)


@pytest.mark.parametrize(
    ("words", "true"),
    [
        (r"[hc]_n(\[-?\d+\])? (is|are) complete", lambda m: sorted(ended(m)) == list(range(m.case.B))),
        ("(?i)without padding|each token is stored once", lambda m: all(m.case.mask[b][t] for b, t in m.case.at)),
        ("last token", takes_tokens),
        ("[Pp]ads get (vectors, too|zeros)", lambda m: pads(m.case) > 0),
    ],
)
def test_it_is_said_only_where_it_is_true(words: str, true: Callable[[Moment], bool]) -> None:
    said = [moment for name in some(CASES) for moment in moments(case_of(name)) if re.search(words, moment.caption)]
    assert said
    assert [moment.caption for moment in said if not true(moment)] == []


@pytest.mark.parametrize("name", ["zeros", "random", "learned", "the final state of the previous batch"])
def test_the_start_says_what_h_0_is(name: str) -> None:
    starts: dict[Any, str] = {"gru": "h starts as **h_0**,", "lstm": "h and c start as **h_0** and **c_0**,"}
    start: Any = "carried" if "previous" in name else name
    for cell, states in starts.items():
        movie = pv.movie(pv.trace(Batch.parse("1 2\n3"), Config(cell=cell, initial_state=start)), ("run",))
        assert states in movie.steps[0].caption
        assert name in movie.steps[0].caption


def test_the_start_names_the_part_of_h_0_of_each_run() -> None:
    trace = pv.trace(Batch.parse("1 2\n3"), Config(cell="lstm", num_layers=2, bidirectional=True))
    order = "h_0 and h_n are ordered by layer, forward first"
    for row, (layer, way) in enumerate(product(range(2), ("forward", "backward"))):
        movie = pv.movie(trace, ("run",), layer=layer, direction=row % 2)
        said = movie.steps[0].caption
        assert said.startswith(f"You are watching the **{way} direction** of **layer {layer}**")
        assert said.endswith(f" Its initial states, **h_0[{row}]** and **c_0[{row}]**, are all zeros; {order}.")
        end = row - 4 if layer == 1 else row
        assert f" h_n[{end}] and c_n[{end}]" in movie.steps[-1].caption


def test_a_fact_that_never_speaks_fails() -> None:
    def first(case: Case) -> int:
        return int(case.name == CASES[0])

    def none(_: Case) -> int:
        return 0

    sometimes, never = over(CASES[:3])(first), over(CASES[:3])(none)
    for name in CASES[:3]:
        sometimes(case=name)
    for name in CASES[:2]:
        never(_=name)
    with pytest.raises(AssertionError, match="never spoke"):
        never(_=CASES[2])


WEIGHTS = set(dict(torch.nn.LSTM(1, 1, 3, bidirectional=True).named_parameters()))
STAGES_OF_ROWS = [stage.name for stage in ROWS_MOVIE.stages]
ROWS: list[dict[str, Any]] = [{}, {"isolate": False}, {"reset_positions": False}, {"layer": "gru"}, {"layer": "conv"}]


def test_a_name_in_a_caption_is_a_function_or_explained_on_hover() -> None:
    rows = [pv.movie(pv.trace_rows(Batch.parse("on your mark\nget set\ngo"), pv.RowConfig(**each))) for each in ROWS]
    deep = pv.movie(pv.trace(Batch.example("sentences")), STAGES, deep=True)
    captions = [step.caption for movie in (deep, *rows) for step in movie.steps]
    captions += [step["caption"] for name in CASES[::8] for step in case_of(name).show.steps]
    names = set(re.findall(r"\b[a-z]+_[a-z0-9_]+\b", " ".join(captions)))
    assert {"padding_idx", "position_ids"} <= names
    assert names - {*dir(rnn), *dir(torch.nn.functional)} - WEIGHTS <= set(TERMS)


def spoken(caption: str) -> list[str]:
    """Return the words of a caption that are read, as in player/clock.js; a list of three or more is one."""
    chips = rf"{CHIP}(?:, (?:… )?{CHIP})+(?: and {CHIP}| \(\d+ sequences\))"
    lists = rf"\[[^\]]*,[^\]]*,[^\]]*\]|{chips}|\b\w+(?:, \w+)+ and (?:\w|\d+ more)\b"
    return re.findall(r"\S*\w\S*", re.sub(r"[{}*]", "", re.sub(lists, "list", caption)))


def test_the_meaning_of_gates_counts_those_that_torch_does() -> None:
    assert "n (GRU) and g (LSTM), which PyTorch also calls gates" in TERMS["gates"]
    assert TERMS["n"].startswith("n, the new gate")
    assert TERMS["g"].startswith("g, the cell gate")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_play_gives_every_caption_the_time_to_read_it(example: Example) -> None:
    batch = Batch.example(example.key)
    run = pv.trace(batch)
    movies = [pv.movie(run), pv.movie(run, deep=True), beside(run)]
    movies.append(pv.movie(pv.trace(batch, Config(cell="lstm")), ("run",)))
    if batch.kind != "vectors":
        longest, shortest = int(batch.lengths.max()), int(batch.lengths.min())
        for length in (None, longest + shortest):  # as the app fills rows
            rows = pv.trace_rows(batch, pv.RowConfig(max_length=length))
            movies += [pv.movie(rows, [stage for stage in STAGES_OF_ROWS if stage != "run"], deep=True)]
    long = {step.caption for each in movies for step in each.steps if len(spoken(step.caption)) > 24}
    assert long == set()


def test_the_overview_plays_in_about_75_seconds() -> None:
    movie = pv.movie(pv.trace(Batch.example("sentences")))
    words = [re.findall(r"\S*\w\S*", re.sub(r"[{}*]", "", step.caption)) for step in movie.steps[1:]]
    assert sum(min(6.0, max(2.2, len(each) / 4)) for each in words) <= 76  # as player/clock.js

"""The stage attention of a movie of rows: every number, every caption and every line of code, beside torch's own."""

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from movie_format import faults
from row_cases import random_rows
from seeds import seeds
from torch import Tensor

import packviz as pv
from packviz import Movie, RowsTrace
from packviz.compute.row_layers import AttentionLayer
from packviz.errors import PackvizError
from packviz.show.movie.frames import moments
from packviz.text import sequence_label, two_decimals

NUMBER = r"(−?[\d.]+(?:e-?\d+)?)"


@dataclass(frozen=True)
class Query:
    """A step of a movie of attention: a query at a cell of a row, or, without a token, a pad."""

    run: RowsTrace
    layer: AttentionLayer
    head: int
    row: int
    cell: int
    step: int
    caption: str
    detail: Any
    marks: Any

    @property
    def piece(self) -> int:
        return int(self.run.document_ids[self.row, self.cell])

    @property
    def place(self) -> int:
        return self.cell - sum(self.run.rows.lengths[self.row][: self.piece])

    @property
    def token(self) -> tuple[int, int]:
        b, start, _ = self.run.rows.rows[self.row][self.piece]
        return b, start + self.place

    @property
    def reads(self) -> list[int]:
        assert self.run.mask is not None
        return [*self.run.mask[self.row, self.cell].nonzero()[:, 0].tolist()]

    @property
    def others(self) -> list[int]:
        return [k for k in self.reads if self.run.document_ids[self.row, k] != self.piece]

    @property
    def moved(self) -> bool:
        """Whether its learned position is not its place in its document."""
        learned = self.run.config.positions == "learned"
        return learned and int(self.run.position_ids[self.row, self.cell]) != self.place

    def of_head(self, name: str) -> Tensor:
        found: Tensor = getattr(self.layer, name)[self.row, self.head].detach().double()
        return found

    def shown(self, name: str) -> list[Any]:
        """Return the marks of a group in the order of their last key."""
        found = [
            (int(key.rsplit(":", 1)[1]), mark) for key, mark in self.marks.items() if key.rsplit(":", 1)[0] == name
        ]
        return [mark for _, mark in sorted(found, key=lambda each: each[0])]


@cache
def movie_of(seed: int) -> tuple[Movie, int, int]:
    """Return the movie of a random run, and the layer and the head that it shows."""
    run = random_rows(seed, layer="attention")
    layer, head = seed % run.config.num_layers, seed % run.config.num_heads
    return pv.movie(run, ("attention",), layer=layer, head=head, deep=seed % 3 > 0), layer, head


@cache
def queries(seed: int) -> list[Query]:
    """Return the queries, in the order of the movie; the cells are counted anew after each step of a row."""
    movie, layer, head = movie_of(seed)
    found, row, cell, run = list[Query](), -1, 0, movie.run
    last = {moment.step: moment.cells for moment in moments(movie.to_dict())}
    for number, step in enumerate(movie.steps[:-1], 1):
        if step.name.startswith("row"):
            row, cell = row + 1, 0
            continue
        cells = zip(movie.ids, last[number], strict=True)
        marks = {name: each._asdict() for name, each in cells if each.shown}
        found.append(Query(run, run.layers[layer], head, row, cell, number, step.caption, step.detail, marks))
        cell += 1
    return found


def tokens_of(seed: int) -> list[Query]:
    return [each for each in queries(seed) if each.piece >= 0]


def pads_of(seed: int) -> list[Query]:
    return [each for each in queries(seed) if each.piece < 0]


@pytest.mark.parametrize("seed", seeds(30))
def test_every_token_is_a_query_once_and_each_rows_pads_are_one_step(seed: int) -> None:
    run, rows = movie_of(seed)[0].run, range(len(movie_of(seed)[0].run.rows.rows))
    assert [(each.row, each.cell) for each in tokens_of(seed)] == [
        (row, cell) for row in rows for cell in range(sum(run.rows.lengths[row]))
    ]
    assert [each.row for each in pads_of(seed)] == [
        row for row in rows if sum(run.rows.lengths[row]) < run.rows.max_length
    ]


@pytest.mark.parametrize("seed", seeds(30))
def test_the_mask_and_the_numbers_of_a_query_are_those_of_the_trace(seed: int) -> None:
    for query in queries(seed):
        n = sum(query.run.rows.lengths[query.row])
        assert [mark["text"] == "True" for mark in query.shown(f"mask:{query.row}")] == [
            k in query.reads for k in range(n)
        ]
        scores, weights = query.shown(f"score:{query.row}"), query.shown(f"weight:{query.row}")
        assert [mark["text"] != "−∞" for mark in scores] == [k in query.reads for k in range(len(scores))]
        for k in query.reads:
            assert scores[k]["v"] == pytest.approx(float(query.of_head("scores")[query.cell, k]), abs=6e-5)
        assert [mark["v"] for mark in weights] == pytest.approx(query.of_head("weights")[query.cell].tolist(), abs=6e-5)
        values = [mark["vec"] for mark in query.shown(f"value:{query.row}")]
        torch.testing.assert_close(torch.tensor(values).double(), query.of_head("value")[:, :8], atol=6e-5, rtol=0)
        d = query.run.config.head_dim
        made = query.layer.output[query.row, query.cell, query.head * d :][:d].double()
        for name, numbers in (("query", query.of_head("query")[query.cell]), ("sum", made)):
            assert [mark["v"] for mark in query.shown(name)] == pytest.approx(numbers[:8].tolist(), abs=6e-5)


@pytest.mark.parametrize("seed", seeds(30))
def test_outputs_stand_above_those_of_the_documents_alone(seed: int) -> None:
    for query in queries(seed):
        run, row = query.run, query.row
        alone = torch.cat(run.alone[row])
        tokens = torch.arange(min(query.cell + 1, len(alone)))
        found = {
            name: {k: m for k, m in query.marks.items() if k.startswith(f"{name}:{row}:")}
            for name in ("output", "alone", "difference")
        }
        for name, theirs in (("output", run.output[row]), ("alone", alone)):
            ordered = sorted(found[name].values(), key=lambda mark: mark["x"])
            ours = torch.tensor([mark["vec"] for mark in ordered]).double()
            torch.testing.assert_close(ours, theirs[tokens].double(), atol=6e-5, rtol=0)
        ordered = sorted(found["difference"].values(), key=lambda mark: mark["x"])
        far = (run.output[row][tokens] - alone[tokens]).abs().amax(-1).tolist()
        assert [mark["v"] for mark in ordered] == pytest.approx(far, abs=6e-5)


@pytest.mark.parametrize("seed", seeds(30))
def test_a_caption_counts_the_keys_and_names_the_largest_weight(seed: int) -> None:
    for query in tokens_of(seed):
        b, t = query.token
        start = f"Token {t} of {{{sequence_label(b)}}} "
        said = r"both keys" if "both keys" in query.caption else rf"{len(query.reads)} keys?"
        assert re.match(rf"{re.escape(start)}.*\breads (only |all )?\*\*{said}\*\*", query.caption)
        assert "both keys" not in query.caption or len(query.reads) == 2
        if query.others or query.moved:
            continue  # it says which keys and which position are wrong
        weights, causal = query.of_head("weights")[query.cell], query.run.config.causal
        if len(query.reads) == 1:
            assert "**1 key**, its own" in query.caption
            assert query.reads == [query.cell]
            assert weights[query.cell] == 1.0
            hidden = re.search(r"The mask hides the (?:(\d+) )?cells? before it", query.caption)
            assert not hidden or (int(hidden[1] or 1), causal) == (query.cell, True)
            continue
        before = re.search(r": its own and (?:that|those) of the (?:(\d+) )?tokens? before\.", query.caption)
        assert not before or query.reads == [*range(query.cell - int(before[1] or 1), query.cell + 1)]
        assert causal or "tokens before" not in query.caption
        largest = rf"(?P<name>Its own key|The key of token \d+) weighs most, (?P<weight>{NUMBER})\."
        found = re.search(largest, query.caption)
        if not found:
            assert "alone gives" in query.caption
            continue
        name, weight = found["name"], found["weight"]
        assert float(weight) == pytest.approx(float(weights.max()), abs=5.1e-3)
        same = min(k for k in query.reads if weights[k] == weights.max())
        assert name == ("Its own key" if same == query.cell else f"The key of token {t - query.cell + same}")


def test_each_query_says_something_of_its_own() -> None:
    captions = [step.caption for step in pv.movie(pv.trace_rows(pv.Batch.example("sentences")), ("attention",)).steps]
    assert len(captions) == 11
    plain = [re.sub(r"\{[A-Z]\}|\d+(\.\d+)?", "_", caption) for caption in captions]
    assert max(plain.count(each) for each in plain) <= 2


@pytest.mark.parametrize("seed", seeds(30))
def test_a_caption_says_how_and_why_the_output_differs(seed: int) -> None:
    for query in tokens_of(seed):
        config, far = query.run.config, float(query.run.difference[query.row][query.piece][query.place])
        position, moved = int(query.run.position_ids[query.row, query.cell]), query.moved
        belong = f"{len(query.others)} of {'it' if len(query.reads) == 1 else 'them'} in other documents"
        assert (belong in query.caption) == bool(query.others)
        assert ("of its own document" in query.caption) == (moved and not query.others)
        assert (f"has position {position}, not {query.place}" in query.caption) == moved
        told = f"position here is {position}, not {query.place}"
        rotated = position != query.place and config.positions == "rope"
        assert (told in query.caption) == (rotated and not query.others and not query.place)
        if query.others or moved:
            ends = "." if query.place else " from "  # it is said once what it differs from
            assert f"ts output differs by {two_decimals(far)}{ends}" in query.caption
        else:
            assert far <= (1e-13 if config.dtype == "float64" else 2e-6)
        b, start, stop = query.run.rows.rows[query.row][query.piece]
        piece = "this piece of " if stop - start < len(query.run.batch.sequences[b]) else ""
        document = slice(query.cell - query.place, query.cell + 1)
        assert query.run.mask is not None
        reads = query.run.mask[query.row, document].clone()
        reads[:, document] = False  # what is left is of other documents
        whole = query.place == stop - start - 1 and not reads.any() and not moved
        rounded = bool(query.run.difference[query.row][query.piece].any())
        how = "the same outputs, apart from rounding" if rounded else "exactly the same outputs"
        told = f" A run of {piece}{{{sequence_label(b)}}} alone gives {how}."
        assert query.caption.endswith(told) == whole
        assert ("alone gives" in query.caption) == whole
        assert ("his piece of" in query.caption) == bool(
            piece and (whole or ((query.others or moved) and not query.place))
        )


@pytest.mark.parametrize("seed", seeds(30))
def test_the_pads_of_a_row_are_said_to_read_nothing(seed: int) -> None:
    for query in pads_of(seed):
        first, C = sum(query.run.rows.lengths[query.row]), query.run.rows.max_length
        cells = f"Cell {first} is a pad" if first == C - 1 else f"Cells {first} to {C - 1} are pads"
        assert query.caption.startswith(f"{cells}, which may read no key.")
        assert not query.reads
        assert query.run.mask is not None
        assert not query.run.mask[query.row, :, first:].any()


def test_torch_returns_0_for_a_query_without_keys_where_a_softmax_is_nan() -> None:
    q, mask = torch.randn(1, 1, 2, 4), torch.zeros(2, 2, dtype=torch.bool)
    assert F.scaled_dot_product_attention(q, q, q, mask).count_nonzero() == 0
    assert torch.full((2,), -torch.inf).softmax(0).isnan().all()


@pytest.mark.parametrize("seed", seeds(30))
def test_the_last_caption_counts_the_tokens_that_differ_and_why(seed: int) -> None:
    movie, every = movie_of(seed)[0], tokens_of(seed)
    said, learned = movie.steps[-1].caption, movie.run.config.positions == "learned"
    reading = sum(bool(query.others) for query in every)
    moved = sum(int(query.run.position_ids[query.row, query.cell]) != query.place for query in every)
    far = two_decimals(max(float(each.max()) for row in movie.run.difference for each in row))
    N = f"{len(every)} token{'' if len(every) == 1 else 's'}**"
    assert (f"**{reading} of {N} read" in said) == bool(reading)
    assert ("rotary positions only matter relative to each other" in said) == (
        movie.run.config.positions == "rope" and bool(moved) and not reading
    )
    if reading and moved and learned:
        assert re.search(rf"and {moved} ha(s|ve) a wrong position", said)
    elif moved and learned:
        assert re.match(rf"\*\*{moved} of {re.escape(N)} ha(s|ve) a wrong position", said)
    if reading or (moved and learned):
        assert f"differ by up to {far}" in said
    else:
        assert "each output is as if its document ran alone" in said
        assert (f"apart from rounding ({far})" in said) == (far != "0")


@pytest.mark.parametrize("seed", seeds(30))
def test_the_lines_of_a_query_compute_its_weights_and_its_output(seed: int) -> None:
    for query in tokens_of(seed):
        names: dict[str, Any] = {name: query.of_head(name) for name in ("query", "key", "value")}
        assert query.run.mask is not None
        names |= {"mask": query.run.mask[query.row], "d": query.run.config.head_dim, "inf": math.inf}
        sizes = []
        for line in query.detail[:4]:
            exec(line.text, names)
            sizes.append(line.shape)
        torch.testing.assert_close(names["weights"], query.of_head("weights")[query.cell], atol=2e-6, rtol=0)
        d, made = query.run.config.head_dim, query.layer.output[query.row, query.cell].double()
        torch.testing.assert_close(names["output"], made[query.head * d : (query.head + 1) * d], atol=2e-5, rtol=0)
        assert sizes == [f"({len(names['weights'])},)"] * 3 + [f"({d},)"]


def test_in_depth_the_arithmetic_gives_the_numbers_on_the_screen() -> None:
    spoke = 0
    for seed in range(12):
        for query in tokens_of(seed):
            for line in query.detail[4:]:
                spoke += 1
                weights, output = query.of_head("weights")[query.cell], query.layer.output[query.row, query.cell]
                cell, score, weight, made = _read(line.text)
                assert weights[cell] == weights.max()
                assert score == pytest.approx(float(query.of_head("scores")[query.cell, cell]), abs=6e-3)
                assert weight == pytest.approx(float(weights[cell]), abs=6e-3)
                assert made == pytest.approx(float(output[query.head * query.run.config.head_dim]), abs=6e-3)
    assert spoke > 20


def _read(text: str) -> tuple[int, float, float, float]:
    """Return the cell, and its score, its weight and the first number of the output, after checking the arithmetic."""
    plain = text.replace("−", "-").replace("·", "*")
    cell = int(plain.split("# cell ")[1].split(":")[0])
    lines = {"score": r"^s = ([^\n]+)", "weight": r"^    = (1 / [^\n]+)", "output": r"^output\[0\] = (.+)"}
    found = {name: re.findall(line, plain, re.M | re.S) for name, line in lines.items()}
    score, weight, output = (_equal(re.sub(r" \(\d+ more\)|\n", "", text)) for (text,) in found.values())
    return cell, score, weight, output


def _equal(text: str) -> float:
    """Return the right side of an equation, after checking the arithmetic on its left."""
    left, sign, right = re.split(r"([=≈])", text)
    assert eval(left) == pytest.approx(float(right), abs=5.1e-3 if sign == "=" else 2e-2)
    return float(right)


WORDS = "on your mark\nget set\ngo"


def typed(**settings: Any) -> RowsTrace:
    return pv.trace_rows(pv.Batch.parse(WORDS), pv.RowConfig(**settings))


def test_what_is_no_number_is_not_said_to_differ_by_it() -> None:
    batch = pv.Batch.from_tensors([torch.tensor([1e30, 1e-30, 2.0]), torch.tensor([3e20, 4.0])])
    every: list[dict[str, Any]] = [{}, {"isolate": False}, {"reset_positions": False}]
    for settings in every:
        said = pv.movie(pv.trace_rows(batch, pv.RowConfig(**settings)), ("attention",), steps=1).steps[-1].caption
        assert said.endswith("documents alone are not finite numbers. The first query was shown.")
        assert "no finite number" not in said


def test_there_is_a_space_between_two_sentences_of_a_caption() -> None:
    movie = pv.movie(typed(positions="rope", reset_positions=False), ("attention",))
    captions = [step.caption for step in movie.steps]
    assert any("but only distances count. " in caption for caption in captions)
    assert not [caption for caption in captions if re.search(r"[a-z]\.[A-Z]", caption)]


def test_the_movie_says_which_head_and_layer_it_shows() -> None:
    movie = pv.movie(typed(num_layers=2), ("attention",), layer=0, head=1)
    assert movie.frame(1)["marks"]["title:keys"]["text"] == "row 0 of 6 cells: head 1 of layer 0"
    assert "You see head 1 (of 2), layer 0 (of 2)." in movie.steps[0].caption
    assert movie.to_dict()["stack"] == {"layers": 2, "directions": 1, "layer": 0, "direction": 0, "heads": 2, "head": 1}


def test_a_row_of_one_token_is_named_in_the_singular() -> None:
    run = pv.trace_rows(pv.Batch.parse("1"), pv.RowConfig(num_layers=1))
    assert pv.movie(run, ("attention",)).steps[0].caption.startswith("The token has a **query**")


def test_a_query_has_the_name_of_its_token() -> None:
    movie = pv.movie(typed(), ("attention",))
    assert [step.name for step in movie.steps] == ["row0", "A0", "A1", "A2", "B0", "B1", "C0", "end"]


def test_a_window_of_cells_and_queries_is_said() -> None:
    movie = pv.movie(typed(), ("attention",), steps=4)
    assert "4 of 6 cells" in movie.steps[0].caption
    assert movie.steps[-1].caption.endswith("The first 4 queries were shown.")
    assert len([mark for name, mark in movie.frame(6)["marks"].items() if name.startswith("weight:")]) == 4


def test_tokens_beyond_the_window_of_sequences_have_their_text() -> None:
    movie = pv.movie(typed(), ("attention",), sequences=1)
    shown = [mark for mark in movie.frame(1)["marks"].values() if mark["role"] == "token"]
    assert [mark["text"] for mark in sorted(shown, key=lambda mark: mark["x"])] == [
        "on",
        "your",
        "mark",
        "get",
        "set",
        "go",
    ]


def test_scores_that_are_no_finite_numbers_are_written_as_nan() -> None:
    run = pv.trace_rows(pv.Batch.parse("1e30 -2e30\n3e30 1.5"))
    movie = pv.movie(run, ("attention",))
    assert "nan" in {mark["text"] for mark in movie.frame(3)["marks"].values() if mark["role"] == "value"}
    assert "not finite" in movie.steps[2].caption


def test_an_lstm_has_no_stage_attention() -> None:
    with pytest.raises(PackvizError, match="some of two, fill"):
        pv.movie(typed(layer="lstm"), ("attention",))


@pytest.mark.parametrize("seed", seeds(12))
def test_the_data_keep_to_the_format(seed: int) -> None:
    assert faults(movie_of(seed)[0].to_dict()) == []

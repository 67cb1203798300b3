"""Questions: every kind can be asked, its answer is right, its reasons belong to wrong answers, its twin differs."""

import gzip
import json
import re
import tracemalloc
from random import Random
from typing import Any

import pytest
from seeds import seeds

from classroom import questions, specs
from classroom.slide import prompt_html
from classroom.state import RefusedError
from classroom.tapping import TAPPED_KINDS
from packviz.compute.runs import PACKING_RUN
from packviz.teach.predictions import KINDS, rows
from packviz.teach.quiz import LEVELS

TEXT = "1 2 3\n4 5\n6 7 8 9\n10"
PACKED = [key for key, kind in KINDS.items() if kind.subject.run is PACKING_RUN]
IN_ROWS = {
    "dropped_from": {"max_length": 3},
    "dropped_tokens": {"max_length": 3},
    "row_count": {"max_length": 5, "strategy": "next_fit"},
    "row_documents": {"max_length": 5},
    "conv_hit": {"layer": "conv", "isolate": False},
    "changed_tokens": {"layer": "lstm", "isolate": False, "max_length": 7},
    "changed_documents": {"causal": False, "max_length": 7},
    "last_label": {"shift_labels": "row"},
}
PUBLIC = {"kind", "prompt", "form", "options", "rows", "settings", "letters", "example", "single", "poll", "collects"}
SPECS: list[dict[str, Any]] = [
    *(
        {"kind": kind, "sequences": TEXT, "settings": {"bidirectional": bool(KINDS[kind].direction)}}
        for kind in PACKED
        if kind != "enforced"
    ),
    {"kind": "enforced", "sequences": TEXT, "settings": {"enforce_sorted": True}},
    *(
        {"kind": kind.key, "sequences": TEXT, "settings": IN_ROWS.get(kind.key, {"max_length": 8})}
        for kind in rows.ROW_KINDS
    ),
    *(
        {
            "kind": kind,
            "sequences": TEXT,
            "settings": {"bidirectional": True} if KINDS[kind].direction else {},
            "tap": True,
        }
        for kind in TAPPED_KINDS
        if kind != "dropped_tokens"
    ),
    {"kind": "dropped_tokens", "sequences": TEXT, "settings": {"max_length": 3}, "tap": True},
    *({"level": level, "round": 77, "question": 5} for level in LEVELS),
    {"prompt": "Which?", "options": ["this", "that"], "answer": 1, "reasons": ["No.", ""], "why": "Yes."},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: "-".join(map(str, spec.values()))[:30])
def test_the_answer_and_the_reasons_of_a_question_are_not_public(spec: dict[str, Any]) -> None:
    asked = questions.question(specs.checked(spec))
    assert asked.read(asked.answer) == asked.solution
    assert asked.why
    assert all(asked.reason(wrong) == reason != "" for wrong, reason in asked.reasons.items())
    assert asked.solution not in asked.reasons
    assert set(json.loads(json.dumps(asked.public))) <= PUBLIC


@pytest.mark.parametrize(
    ("own", "poll", "collects"),
    [
        ({"kind": "text"}, True, True),
        ({"kind": "text", "answer": None}, True, True),
        ({"kind": "text", "answer": "h_n"}, False, False),
        ({"kind": "number"}, True, False),
        ({"options": ["this", "that"]}, True, False),
        ({"options": ["this", "that"], "answer": 0}, False, False),
    ],
)
def test_everybody_may_know_whether_a_question_is_a_poll(own: dict[str, Any], *, poll: bool, collects: bool) -> None:
    spec = specs.checked({"prompt": "Which?", **own})
    public = questions.question(spec).public
    assert (public.get("poll", False), public.get("collects", False)) == (poll, collects)
    assert specs.is_poll(spec) == poll


@pytest.mark.parametrize("spec", SPECS[:-1], ids=lambda spec: "-".join(map(str, spec.values()))[:30])
def test_the_movie_of_a_question_has_the_step_of_its_answer(
    spec: dict[str, Any],
) -> None:
    film, asked = questions.film(spec), questions.question(spec)
    assert film is not None
    assert 1 <= film.step <= film.steps == len(json.loads(gzip.decompress(film.data))["steps"])
    other = questions.twin(spec, "seed")
    assert other == questions.twin(spec, "seed")
    twin = questions.question(other)
    assert (twin.kind, twin.form, twin.settings[0]) == (asked.kind, asked.form, asked.settings[0])
    assert twin.rows != asked.rows
    same = asked.kind == "final_backward" or asked.form == "choice"  # that one is 0, whatever the batch
    same |= bool(spec.get("tap"))  # a token may be in the same place of another batch
    assert same or twin.solution != asked.solution


@pytest.mark.parametrize(
    "watched", [{}, {"direction": "backward", "bidirectional": True}, {"layer": 0, "num_layers": 2}]
)
def test_the_movie_of_the_way_back_shows_where_the_gradient_enters(watched: dict[str, Any]) -> None:
    spec = {"kind": "gradient_enters", "sequences": TEXT, "settings": watched}
    film, t = questions.film(spec), questions.question(spec).solution
    assert film is not None
    caption = json.loads(gzip.decompress(film.data))["steps"][film.step - 1]["caption"]
    assert caption.startswith(f"**t = {t}.** The gradient enters at the final state")


def test_the_movie_of_a_promise_shows_torch_breaking_it() -> None:
    film = questions.film({"kind": "promised", "sequences": TEXT})
    assert film is not None
    step = json.loads(gzip.decompress(film.data))["steps"][film.step - 1]
    assert "must be sorted in decreasing order" in step["error"]


@pytest.mark.parametrize("seed", seeds(15))
def test_on_any_batch_and_settings_a_kind_can_be_asked_or_the_fix_is_given(seed: int) -> None:
    draw = Random(seed)
    text = "\n".join(" ".join("x" * draw.randint(1, 12)) for _ in range(draw.randint(1, 12)))
    settings = {
        "cell": draw.choice(["rnn", "gru", "lstm"]),
        "bidirectional": draw.random() < 0.5,
        "enforce_sorted": draw.random() < 0.3,
        "batch_first": draw.random() < 0.5,
        "padding_side": draw.choice(["right", "left"]),
    }
    for kind in PACKED:
        try:
            asked = questions.question({"kind": kind, "sequences": text, "settings": settings})
        except RefusedError as refusal:
            told = refusal.sentence
            assert any(
                word in told for word in ("enforce_sorted", "bidirectional", "equal lengths", "different lengths")
            ), told
        else:
            assert asked.read(asked.answer) == asked.solution


@pytest.mark.parametrize("seed", seeds(15))
def test_on_any_rows_a_kind_can_be_asked_or_the_fix_is_given(seed: int) -> None:
    draw = Random(seed)
    text = "\n".join(" ".join("x" * draw.randint(1, 12)) for _ in range(draw.randint(1, 12)))
    settings = {
        "max_length": draw.randint(1, 20),
        "layer": draw.choice(["attention", "gru", "conv"]),
        "isolate": draw.random() < 0.5,
        "reset_positions": draw.random() < 0.5,
        "strategy": draw.choice(["wrapped", "next_fit", "bfd"]),
    }
    for kind in rows.ROW_KINDS:
        try:
            asked = questions.question({"kind": kind.key, "sequences": text, "settings": settings})
        except RefusedError as refusal:
            told = refusal.sentence
            assert any(word in told for word in ("layer", "reset_positions", "max_length", "integers")), told
        else:
            assert asked.read(asked.answer) == asked.solution


@pytest.mark.parametrize(("kind", "before", "fix", "after"), [
    ("joins_backward", {}, "Set bidirectional to true.", {"settings": {"bidirectional": True}}),
    ("final_backward", {}, "Set bidirectional to true.", {"settings": {"bidirectional": True}}),
    ("enforced", {}, "Set enforce_sorted to true, or ask `promised`.", {"settings": {"enforce_sorted": True}}),
    ("promised", {"sequences": "1 2\n3", "settings": {"enforce_sorted": True}},
     "Set enforce_sorted to false, or ask `enforced`.", {"sequences": "1 2\n3"}),
    ("packed_row", {"settings": {"enforce_sorted": True}},
     "torch refuses to pack these lengths: sort them, set enforce_sorted to false, or ask `enforced`.", {}),
    ("packed_row", {"sequences": "1 2\n" * 20},
     "Choose another batch: here the order of equal lengths is torch's choice.", {}),
    ("pad_gradient", {"sequences": "1 2\n3 4"}, "Choose different lengths: here nothing is padded.", {}),
    ("final_step", {"sequences": "1 " * 62}, "Choose shorter sequences.", {}),
    ("keys_read", {"settings": {"layer": "gru"}}, 'Set layer to "attention".', {}),
    ("conv_hit", {}, 'Set layer to "conv".', {"settings": {"layer": "conv"}}),
    ("document_count", {"settings": {"reset_positions": False}}, "Set reset_positions to true.", {}),
    ("last_label", {"sequences": "0.5 1\n2"}, "Type words or integers: other numbers have no labels.", {}),
    ("row_token", {"sequences": "1"},
     "Choose a smaller max_length, or several short sequences that stand in one row.", {}),
])  # fmt: skip
def test_a_kind_that_cannot_be_asked_says_what_makes_it_possible(
    kind: str, before: dict[str, Any], fix: str, after: dict[str, Any]
) -> None:
    with pytest.raises(RefusedError, match=f"^The question `{kind}` cannot be asked here. {re.escape(fix)}$"):
        questions.question({"kind": kind, "sequences": TEXT, **before})
    assert questions.question({"kind": kind, "sequences": TEXT, **after}).kind == kind


@pytest.mark.parametrize(("settings", "told"), [
    ({"cell": "gru"}, "names of settings"),
    ({"max_length": 161}, "max_length"),
    ({"num_heads": 9}, "num_heads"),
    ({"kernel_size": 17}, "kernel_size"),
    ({"num_layers": 3}, "num_layers"),
    ({"embedding_dim": 17, "num_heads": 1}, "embedding_dim"),
    ({"watched_layer": 1}, "watched_layer"),
    ({"layer": "gru", "watched_head": 1}, "watched_head"),
])  # fmt: skip
def test_settings_of_rows_are_checked_where_the_spec_is(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(RefusedError, match=told):
        specs.checked({"kind": "cu_seqlens", "sequences": TEXT, "settings": settings})
    with pytest.raises(RefusedError, match=told):
        specs.checked_item({"step": {"kind": "rows", "stage": "two", "sequences": TEXT, "settings": settings}})


@pytest.mark.parametrize("stage", [None, "two", "fill"])
def test_a_step_of_rows_is_a_step_of_their_movie(stage: str | None) -> None:
    about = {"kind": "rows", "number": 2, "sequences": TEXT, "settings": {"max_length": 5, "watched_head": 1}}
    film = questions.film(specs.checked_item({"step": {**about, **({"stage": stage} if stage else {})}}))
    assert film is not None
    assert (film.step, film.steps) == (2, len(json.loads(gzip.decompress(film.data))["steps"]))
    with pytest.raises(RefusedError, match="stage"):
        specs.checked_item({"step": {**about, "stage": "pack"}})


@pytest.mark.parametrize(
    ("kind", "cells"),
    [("final_step", ["A 2", "B 1", "C 3", "D 0"]), ("final_backward", ["A 0", "B 0", "C 0", "D 0"])],
)
def test_the_token_that_is_tapped_is_at_the_time_step_that_is_the_answer(kind: str, cells: list[str]) -> None:
    about = {"kind": kind, "sequences": TEXT, "settings": {"bidirectional": True}, "tap": True}
    asked = [questions.question({**about, "number": number}) for number in range(4)]
    assert sorted(each.solution.replace(", t =", "") for each in asked) == cells
    for each in asked:
        assert each.prompt.endswith(f"Tap the token of {each.solution[0]} that is read there.")
        assert all(
            wrong[0] == each.solution[0] or "The question is about" in why for wrong, why in each.reasons.items()
        )


def test_a_token_is_not_tapped_where_pads_are_packed() -> None:
    spec = {"kind": "final_step", "sequences": TEXT, "settings": {"padding_side": "left"}, "tap": True}
    with pytest.raises(RefusedError, match="Padding is packed here"):
        questions.question(spec)


def test_a_token_can_be_tapped_only_if_it_is_the_only_one_dropped() -> None:
    with pytest.raises(RefusedError, match="exactly one token"):
        questions.question({"kind": "dropped_tokens", "sequences": TEXT, "settings": {"max_length": 2}, "tap": True})


def test_a_prompt_that_begins_with_code_is_still_code_when_asked_again() -> None:
    spec = {"prompt": "```python\nlstm(x)\n```\nWhich?", "kind": "text", "seen": True}
    html = prompt_html(questions.question(spec))
    assert html.startswith("<p>What did you see?</p>\n<pre><code")
    spec = {"kind": "batch_sizes", "seen": True}
    assert questions.question(spec).prompt.startswith("What did you see? ")


@pytest.mark.parametrize(("settings", "about", "named"), [
    ({"direction": "backward"}, {}, "direction"),
    ({"layer": 1}, {}, "layer"),
    ({"watched_head": 2}, {"kind": "rows"}, "watched_head"),
    ({"watched_layer": 1}, {"kind": "rows"}, "watched_layer"),
])  # fmt: skip
def test_a_step_that_watches_what_the_run_does_not_have_is_refused(settings: Any, about: Any, named: str) -> None:
    with pytest.raises(RefusedError, match=f"^{named}: expected"):
        specs.checked_item({"step": {"settings": settings, **about}})


def test_no_picture_of_a_prompt_stays_in_memory() -> None:
    picture = "A" * 400_000
    tracemalloc.start()
    try:
        for i in range(10):
            spec = {"prompt": f"{i} ![a](data:image/png;base64,{picture})", "options": ["a", "b"]}
            assert questions.question(spec).prompt == spec["prompt"]
            assert questions.film(spec) is None
        del spec
        assert tracemalloc.get_traced_memory()[0] < len(picture)
    finally:
        tracemalloc.stop()

"""Questions: every kind can be asked, its answer is right, its reasons belong to wrong answers, its twin differs."""

import gzip
import json
from random import Random
from typing import Any

import pytest
from seeds import seeds

from classroom import questions, specs
from classroom.state import RefusedError
from classroom.tapping import KINDS as TAPPED
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LEVELS

TEXT = "1 2 3\n4 5\n6 7 8 9\n10"
PUBLIC = {"kind", "prompt", "form", "options", "rows", "settings", "letters", "example", "single"}
SPECS: list[dict[str, Any]] = [
    *(
        {"kind": kind, "sequences": TEXT, "settings": {"bidirectional": kind.endswith("_backward")}}
        for kind in KINDS
        if kind != "enforced"
    ),
    {"kind": "enforced", "sequences": TEXT, "settings": {"enforce_sorted": True}},
    *({"kind": kind, "sequences": TEXT, "tap": True} for kind in TAPPED),
    *({"level": level, "round": 77, "question": 5} for level in LEVELS),
    {"prompt": "Which?", "options": ["this", "that"], "answer": 1, "reasons": ["No.", ""], "why": "Yes."},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: "-".join(map(str, spec.values()))[:30])
def test_its_own_answer_is_right_each_reason_belongs_to_a_wrong_one_and_neither_is_public(spec: dict[str, Any]) -> None:
    asked = questions.question(specs.checked(spec))
    assert asked.read(asked.answer) == asked.solution
    assert asked.why
    assert all(asked.reason(wrong) == reason != "" for wrong, reason in asked.reasons.items())
    assert asked.solution not in asked.reasons
    assert set(json.loads(json.dumps(asked.public))) <= PUBLIC


@pytest.mark.parametrize("spec", SPECS[:-1], ids=lambda spec: "-".join(map(str, spec.values()))[:30])
def test_the_movie_has_the_step_of_the_answer_and_the_twin_asks_the_same_about_another_batch(
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
    assert same or twin.solution != asked.solution


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
    for kind in KINDS:
        try:
            asked = questions.question({"kind": kind, "sequences": text, "settings": settings})
        except RefusedError as refusal:
            told = refusal.sentence
            assert any(word in told for word in ("enforce_sorted", "bidirectional", "order of equal lengths")), told
        else:
            assert asked.read(asked.answer) == asked.solution

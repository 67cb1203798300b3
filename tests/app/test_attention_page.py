"""The lesson on attention: its switches, its parts, its heads, and other layers."""

import json
from typing import Any

import pytest
import torch
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest
from visits import Open

from pages import movies, opened, press, texts


def film(app: AppTest) -> Any:
    (given,) = movies(app)
    return json.loads(given)["movie"]


def end(app: AppTest) -> str:
    caption: str = film(app)["steps"][-1]["caption"]
    return caption


def test_the_switches_change_what_the_last_step_says() -> None:
    app = opened("attention")
    assert end(app).startswith("No token reads another document")
    press(app, "no borders in the mask (isolate off)")
    assert "read keys of other documents" in end(app)
    assert app.query_params["isolate"] == "false"
    press(
        app, "no borders in the mask (isolate off)", "positions run on (reset_positions off)"
    )  # the first one is taken back
    assert "have a wrong position" in end(app)
    press(app, "rotary positions (rope)")
    assert "rotary positions only matter relative to each other" in end(app)


def test_a_link_shows_a_head() -> None:
    app = opened("attention", {"watched_head": 1, "row_num_layers": 2, "layer": 0})
    assert film(app)["stack"] == {"layers": 2, "directions": 1, "layer": 0, "direction": 0, "heads": 2, "head": 1}
    assert "Ignored from the link" not in texts(app)


def test_what_torch_makes_of_a_query_without_keys_is_run_now() -> None:
    said = texts(opened("attention"))
    assert repr(torch.full((3,), -torch.inf).softmax(0)) in said
    assert repr(torch.zeros(1, 1, 4)) in said


@pytest.mark.parametrize("layer", ["lstm", "conv"])
def test_another_layer_runs_instead_and_a_button_brings_attention_back(layer: str) -> None:
    app = opened("attention", {"row_layer": layer})
    assert film(app)["steps"][0]["stage"] == "run"
    assert "The layer of this run is not attention." in texts(app)
    press(app, "attention")
    assert film(app)["steps"][0]["stage"] == "attention"


def test_a_head_chosen_in_the_player_is_shown_and_goes_into_the_link(visit: Open) -> None:
    visited = visit({"example": "unsorted"}, path="attention", motion=False)
    visited.press("ArrowRight")
    first = visited.player.get_by_role("button", name="Head 1")
    visited.click(first)
    expect(first).to_have_attribute("aria-pressed", "true")
    assert visited.query["watched_head"] == "1"
    assert visited.data("step") == "2"

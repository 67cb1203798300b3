"""Typing, picking and setting: what is asked for is what is shown, and nothing that was typed is lost."""

import re

from playwright.sync_api import Browser, expect
from visits import Visit, visit


def pick(seen: Visit, option: str) -> None:
    seen.sidebar.get_by_role("radio", name=option, exact=True).first.click()


def test_what_is_typed_is_shown_letter_by_letter_by_the_same_player_with_all_that_stands_under_it(
    browser: Browser, address: str
) -> None:
    with visit(browser, address) as seen:
        seen.player.evaluate("player => { player.mark = 'the same' }")
        seen.text.press("Control+End")
        seen.text.press_sequentially("\n10 11", delay=40)
        expect(seen.player).to_have_attribute("aria-label", re.compile("4 sequences"))
        expect(seen.text).to_be_focused()
        seen.text.press_sequentially(" 12")
        expect(seen.sidebar.get_by_text("4 sequences, 12 tokens")).to_be_visible()
        expect(seen.text).to_have_value("1 2 3\n4 5\n6 7 8 9\n10 11 12")
        seen.settle()
        seen.unfold("All numbers of this stage")
        cells, below = seen.data("cells"), seen.main.get_by_test_id("stCode").first
        seen.type("on your mark\nget set\ngo")
        expect(seen.sidebar.get_by_text("3 sequences, 6 tokens, 33 % padding")).to_be_visible()
        assert seen.data("cells") != cells
        assert seen.query == {"example": "own", "sequences": "on your mark\nget set\ngo"}
        expect(seen.text).to_be_focused()
        for text, batch_sizes in (("1 2 3\n4", "[2, 1, 1]"), ("1 2 3\n4\n5", "[3, 1, 1]"), ("1 2\n3 4", "[2, 2]")):
            seen.type(text)
            expect(below).to_contain_text(f"tensor({batch_sizes})")
        seen.type("1 nan")
        expect(below).to_contain_text("tensor([2, 2])")
        seen.type("1 2\n3 4 5")
        pick(seen, "rnn")
        seen.settle()
        assert seen.player.evaluate("player => player.mark") == "the same"
        pick(seen, "zen")
        seen.settle()
        assert seen.query == {"cell": "rnn", "example": "zen"}


def test_a_text_that_a_setting_does_not_fit_is_refused_beside_the_last_picture_until_it_does(
    browser: Browser, address: str
) -> None:
    with visit(browser, address, "total_length=5") as seen:
        seen.player.evaluate("player => { player.mark = 'the same' }")
        refusal = seen.sidebar.get_by_text("⚠ total_length: expected None or an integer of at least 8")
        for text, refusals in (("1 2 3 4 5 6 7 8\n9", 1), ("1 2 3\n4", 0), ("1\n2 3 4 5 6 7 8 9", 1)):
            seen.type(text)
            expect(refusal).to_have_count(refusals)
        expect(seen.main.get_by_text("Still showing your last batch: 2 sequences, 4 tokens")).to_be_visible()
        assert seen.player.evaluate("player => player.mark") == "the same"


def test_a_click_on_the_map_in_the_player_sets_the_controls_of_layer_and_direction(
    browser: Browser, address: str
) -> None:
    with visit(browser, address, "num_layers=2&bidirectional=true") as seen:
        layers = seen.player.get_by_role("group", name="Layers")
        layers.get_by_role("button", name="Layer 0 backward").click()
        expect(layers.get_by_role("button", pressed=True)).to_have_attribute("aria-label", "Layer 0 backward")
        seen.settle()
        assert seen.query["layer"] == "0"
        assert seen.query["direction"] == "backward"
        expect(seen.sidebar.get_by_role("radio", name="backward", exact=True)).to_be_checked()

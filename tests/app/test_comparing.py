"""Compare: the result at a glance, and every part in a tab that is computed when it is opened."""

import pytest
from playwright.sync_api import expect
from tabs import until
from visits import LAPTOP, PHONE, PROJECTOR, Open

import packviz
from packviz.facts import compare
from pages import opened, texts

TABS = {
    "Equal or different": (
        "Equal means that no difference exceeds",
        "compared with the state after the whole sequence",
    ),
    "More pads, other settings": ("keeps reading padding", "**Try this.** Choose a setting that changes a verdict."),
    "Loss and gradients": ("In both runs, the same linear layer predicts a class", "it passes through every pad"),
}


@pytest.mark.parametrize("query", [{}, {"bidirectional": "true"}])
def test_each_readout_is_right_or_wrong_at_a_glance(query: dict[str, str]) -> None:
    shown = texts(opened("compare", query))
    trace = packviz.trace(packviz.Batch.example("unsorted"), packviz.Config(bidirectional=bool(query)))
    found = compare(trace).readings
    assert len(found) == 3 + bool(query)
    for each in found:
        lines = [f"`{each.code}`"]
        for name, side in (("padded", each.padded), ("packed", each.packed)):
            mark = ":green[**✓**]" if side.right else ":red[**✗**]"
            lines.append(f"{mark} {name}: {'right' if side.right else side.verdict}")
            assert side.right or side.verdict.startswith("wrong for A")
        assert "  \n".join(lines) in shown


def test_every_part_is_in_a_tab_of_its_own() -> None:
    app = opened("compare")
    assert [each.label for each in app.tabs] == list(TABS)
    for tab in TABS:
        app.session_state["parts"] = tab
        shown = texts(app.run())
        assert [other for other, parts in TABS.items() if all(words in shown for words in parts)] == [tab]
        assert not any(words in shown for other in TABS if other != tab for words in TABS[other])


LINES = """() => {
    const high = (node) => node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight);
    const all = document.querySelectorAll(".stMain [data-testid=stMarkdownContainer] p, .stMain [data-testid=stText]");
    return [...all].filter((each) => each.checkVisibility() && high(each) > 3.5).map((each) => each.textContent);
}"""  # texts of more than three lines


def test_compare_is_one_screen_with_both_runs_in_step(visit: Open) -> None:
    visited = visit(None, path="compare", size=LAPTOP)
    for width, height in (LAPTOP, PROJECTOR):
        visited.page.set_viewport_size({"width": width, "height": height})
        visited.settle()
        expect(visited.main.locator(".st-key-glance")).to_be_in_viewport(ratio=1)
    caption = visited.player.get_by_test_id("packviz-caption")
    expect(caption).to_contain_text("Padding changes the final state of")  # the result comes first
    visited.press(*5 * ["ArrowRight"])
    expect(caption).to_contain_text("the padded run reads their pads")
    for tab in visited.main.get_by_role("tab").all():
        tab.click()
        visited.settle()
        for width, height in (PROJECTOR, PHONE, LAPTOP):
            visited.page.set_viewport_size({"width": width, "height": height})
            until(visited.page, lambda: visited.page.evaluate(LINES) == [])

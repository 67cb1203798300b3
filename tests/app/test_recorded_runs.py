"""The pages that measure open with a recorded run, which says that it is one, and follow the cell of the sidebar."""

import pytest

from packviz.lab import recorded
from pages import opened, texts


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_training_opens_with_the_recorded_headline_chart_and_caveat(cell: str) -> None:
    app, run = opened("training", {"cell": cell}), recorded.training()
    assert plain(app.subheader[0].value) == recorded.training_headline(run, cell)
    assert recorded.training_caveat(run, cell) in texts(app)
    assert len(app.get("plotly_chart")) == 1  # the details come when they are opened
    assert "estimated from the recorded run. Time limit" in texts(app)
    app.session_state["recorded training"] = True
    app.run()
    assert len(app.get("plotly_chart")) == 1 + 1 + 3
    assert app.dataframe[0].value["extra pads"].tolist() == [0] * 4 + [20] * 4 + [100] * 4
    assert len(app.download_button) == 1


def test_settings_that_were_not_recorded_have_no_estimate() -> None:
    app = opened("training")
    app.toggle(key="train_both").set_value(True).run()
    assert "recorded run. Time limit" not in texts(app)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_cost_opens_with_the_recorded_headline_map_and_caveat(cell: str) -> None:
    app, run = opened("cost", {"cell": cell}), recorded.cost()
    assert plain(app.subheader[0].value) == recorded.cost_headline(run, cell)
    assert recorded.cost_caveat(run, cell) in texts(app)
    before = len(app.get("plotly_chart"))
    app.session_state["recorded cost"] = True
    app.run()
    assert len(app.get("plotly_chart")) == before + 2
    assert len(app.dataframe[0].value) == len(run.batch)


@pytest.mark.slow
def test_cost_says_why_packed_is_larger_where_it_is() -> None:
    assert "Packed is larger here (116 bytes, padded 48) because of its 80 bytes of indices" in texts(opened("cost"))
    assert "Packed is larger here" not in texts(opened("cost", {"example": "vowels"}))
    assert "Packed is larger here" in texts(opened("packing"))

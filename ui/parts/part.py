"""Building blocks for the parts below a movie: charts, tables, what torch says."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from packviz import tables
from packviz.compute.trace import Refusal, Trace
from packviz.inputs.config import Config
from packviz.show.movie import TERMS
from packviz.show.row_snippet import row_snippet
from packviz.show.snippet import snippet
from packviz.show.theme import DARK, LIGHT, Palette
from ui.parts.controls import Opened, WayBack
from ui.parts.trying import try_this
from ui.state import address, names
from ui.state.kinds import PACKING, ROWS, AppKind, Record
from ui.state.path import script
from ui.state.runs import Shown
from ui.state.text import CHOICE, FIELD, OWN
from ui.state.visit import visit
from ui.state.widgets import put

NOT_RECORDED = "There is no recorded run of this cell yet; `make record` makes one."  # of a new one
TABLES: Mapping[AppKind, Mapping[str, Callable[..., pd.DataFrame]]] = {  # by stage
    PACKING: {
        "pad": tables.padded_table,
        "embed": tables.padded_table,
        "sort": tables.sorted_table,
        "pack": tables.packed_table,
        "run": tables.run_table,
        "unpack": tables.unpacked_table,
    },
    ROWS: {
        "two": tables.order_table,
        **dict.fromkeys(("fill", "borders", "attention", "run", "leak", "losses"), tables.rows_table),
    },
}

PROGRAMS: Mapping[AppKind, Callable[[Any], str]] = {PACKING: snippet, ROWS: row_snippet}


def repair() -> None:
    """Say that torch refused to pack, and offer the fix."""
    text = "torch refuses these lengths, so nothing is packed or run. Turn `enforce_sorted` off, or sort the sequences."
    try_this(text, {"let torch sort (enforce_sorted off)": {"enforce_sorted": False}})


def refused(shown: Shown) -> None:
    """Show that torch refused to pack, so there is nothing to show, and offer the fix."""
    repair()
    st.code(_fields(shown.trace), language=None, wrap_lines=True)


def verdicts(lines: Iterable[tuple[str, str]]) -> None:
    """Show lines of Python, each with torch's current output."""
    st.code("\n".join(f">>> {code}\n{outcome}" for code, outcome in lines), language="python", wrap_lines=True)


def sheet(rows: Iterable[Iterable[object]], columns: Iterable[str], alt: str, formats: Mapping[str, str] = {}) -> None:
    """Show rows as a table. alt: the description for screen readers. formats: of numbers, by the names of columns."""
    frame = pd.DataFrame(list(rows), columns=[f"`{name}`" if "_" in name else name for name in columns])
    st.table(frame.style.format(dict(formats)), border=False, width="content", hide_index=True, alt=alt)


def grid(frame: pd.DataFrame, alt: str) -> None:
    """Show numbers with the name of each row, four digits each, as a table. alt: as in `sheet`."""
    digits = dict.fromkeys(frame.select_dtypes("float"), lambda value: f"{value:z.4f}".replace("-", "−"))
    st.table(frame.style.format(digits), border=False, width="content", alt=alt)  # type: ignore[arg-type]


def _explained(frame: pd.DataFrame) -> Mapping[str, Any]:
    """Return the explanation of each column named after a term, as help on its heading."""
    return {
        name: st.column_config.Column(help=TERMS[term])
        for name in frame.columns
        if (term := name.partition("[")[0]) in TERMS
    }


def figure(shown: Shown, draw: Callable[..., Any], *of: Any, key: str, **chosen: Any) -> None:
    """Draw a chart of packviz.charts in light or dark, and describe it in words.

    of: the chart's arguments; they must follow from the request of `shown` and from `chosen`.
    """
    colors = palette()
    _chart(shown.cached(lambda: draw(*of, palette=colors, **chosen), draw, colors is DARK, *chosen.items()), key)


def fresh(draw: Callable[..., Any], *of: Any, key: str, **chosen: Any) -> str:
    """Draw a chart without caching it, because it is small or shows a new measurement; return its description."""
    return _chart(draw(*of, palette=palette(), **chosen), key)


def palette() -> Palette:
    """Return the colours of the page."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def _chart(chart: Any, key: str) -> str:
    alt: str = chart.layout.meta["alt"]
    st.plotly_chart(chart, theme=None, key=key, alt=alt, config={"displaylogo": False, "displayModeBar": False})
    return alt


def records(shown: Shown, stage: str) -> None:
    """Show everything about the run and the stage on screen, in words and numbers."""
    proof(shown)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader(f"Records of the stage {stage}", anchor=False)
        _table(shown, stage)
        st.subheader("The PackedSequence, as torch prints it", anchor=False)
        st.code(shown.fact(_fields), language="python")
    with right:
        st.subheader("The same run in plain PyTorch", anchor=False)
        program(shown)


def numbers_and_program(shown: Shown) -> None:
    """Show the numbers of the first stage of a lesson as a table, and the run as a script that needs PyTorch alone."""
    assert shown.request.stages is not None
    _table(shown, shown.request.stages[0])
    program(shown)


def program(shown: Shown) -> None:
    """Show the run as a script that needs PyTorch alone."""
    st.code(shown.fact(PROGRAMS[shown.request.kind]), language="python", wrap_lines=True)


def _table(shown: Shown, stage: str) -> None:
    """Show the records of one stage, without the column `padding` if nothing is padding."""
    request = shown.request
    watched = (request.layer, request.direction)
    frame = shown.cached(lambda: table(request.kind, shown.record, stage, *watched), "records", stage)
    if "padding" in frame and not frame["padding"].any():
        frame = frame.drop(columns="padding")
    alt = f"The records of the stage {stage}"
    st.dataframe(frame, hide_index=True, key="records", alt=alt, column_config=_explained(frame))


def table(kind: AppKind, record: Record, stage: str, layer: int | None, direction: int) -> pd.DataFrame:
    """Return the records of one stage; those of the padded grid if torch refused to continue."""
    make = TABLES[kind][stage]
    if isinstance(record, Refusal):
        make = tables.padded_table
    return make(record, *((layer, direction) if make is tables.run_table else ()))


def proof(shown: Shown) -> None:
    """Show how the run compares with torch's own."""
    if isinstance(shown.record, Refusal):
        return
    if shown.movie.exact:
        st.badge(shown.movie.proof, icon=":material/check:", color="green")
    else:
        st.badge(shown.movie.proof, icon=":material/error:", color="orange")
    if isinstance(shown.record, Trace):
        distance(shown.record)


def distance(trace: Trace) -> None:
    """Show how far the run is from torch's own."""
    st.text(f"Largest distance from torch's own run in {', '.join(trace.proof)}: {max(trace.proof.values())}")


def _fields(trace: Trace | Refusal) -> str:
    if isinstance(trace, Refusal):
        return f"RuntimeError: {trace.error}"
    packed = trace.packed_sequence
    return "\n".join(f">>> packed.{name}\n{value}" for name, value in zip(packed._fields, packed, strict=True))


def do_i_need_it() -> None:
    """Link to when packing, rows or padding are the right choice."""
    st.page_link(script("do_i_need_it"), label="Do I need it?", icon=":material/arrow_forward:")


def explore(label: str, sequences: str, config: Config, back: WayBack, *, direction: int = 0, step: int = 1) -> None:
    """Offer to open a batch, all settings and a step of the movie in the overview; the visitor's own text is set aside.

    back: the page, the label and the address of the overview's link back.
    """
    settings = asdict(config) | {FIELD: sequences, **names.watched({"direction": direction})}
    if st.button(label, icon=":material/arrow_forward:", key="explore", on_click=put, args=(settings,)):
        visit(Opened).way_back = back
        asked = names.changed(settings | {CHOICE: OWN, "step": step})
        asked = {name: raw for name, raw in asked.items() if not address.fixed(name)}
        asked |= {name: raw for name, raw in address.asked().items() if address.fixed(name)}
        st.switch_page(script("overview"), query_params=asked)  # widgets not drawn yet write no address

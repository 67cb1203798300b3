"""The minimum that an edit costs with Streamlit: one fragment with a text area and a component, which gets 14 kB.

To the visitors and the browser of the bench it looks like the app: a text of sequences, and a player that is painted.
"""

import json

import streamlit as st

PLAYER = """
let painted = 0;
export default ({ data, parentElement }) => {
  const player = parentElement.querySelector("p"), { movie } = JSON.parse(new TextDecoder().decode(data));
  player.textContent = `${movie.tokens.count} tokens`;
  player.dataset.cells = movie.tokens.count;
  requestAnimationFrame(() => { player.dataset.painted = ++painted; });
};
"""
_show = st.components.v2.component("packviz_player", html='<p data-testid="packviz-player"></p>', js=PLAYER)


@st.fragment
def _picture() -> None:
    rows = [line.split() for line in st.text_area("Your sequences", "1 2 3\n4 5").splitlines()]
    owners = [b for b, row in enumerate(rows) for _ in row]
    movie = {"tokens": {"b": owners, "count": len(owners)}, "columns": [], "sequences": rows, "more": 14_000 * "-"}
    _show(data=json.dumps({"movie": movie}).encode(), key="player")


_picture()

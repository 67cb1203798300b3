"""What screen readers are told: a line that nobody sees, spoken when it changes and not when the page first comes."""

import re

import streamlit as st

_MARKUP = re.compile(r":\w+(?:-badge)?\[(?::material/\w+: ?)?|\*\*|`|[✓✗⚠½]\**|\]")

_mount = st.components.v2.component(
    "packviz_status",
    html='<div role="status"></div>',
    css="""
[role=status] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
""",
    js="""
export default ({ data, parentElement }) => {
  const line = parentElement.querySelector("[role=status]");
  const { text, number } = data, before = line.said;
  line.said = JSON.stringify([text, number]);
  if (before === undefined || before === line.said) return;
  line.textContent = ""; // the same words once more are news, too
  setTimeout(() => { line.textContent = text; }, 50);
};
""",
)


def announce(markdown: str, key: str, *, number: int = 0) -> None:
    """Tell screen readers a result, politely, as soon as it differs from the last one.

    markdown  what is on the screen; "" while there is no result: the line has to exist before it can speak
    key       of the place, the same on every rerun
    number    of the answer: with another number the same words are spoken again
    """
    words = " ".join(_MARKUP.sub("", markdown).split())
    with st.container(key=f"status-{key}", gap=None):
        _mount(key=f"status {key}", data={"text": words, "number": number}, height="content")

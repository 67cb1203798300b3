// Streamlit applies a text when its field loses the focus, or with Ctrl+Enter. The sequences and a search are applied
// while they are typed: after a short pause, as if Ctrl+Enter had been pressed, also while a word is being composed, as
// every word is on a phone's keyboard. Without this the old picture and the old results stay until one leaves the field,
// and tests/app/test_typing.py fails. Streamlit has no setting for it.
(() => {
  const PAUSE = 300; // ms
  let waiting = 0;
  document.addEventListener("input", ({ target }) => {
    if (!target.closest?.(".st-key-sequences, .st-key-search")) return;
    clearTimeout(waiting);
    const keys = { key: "Enter", code: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
    waiting = setTimeout(() => target.dispatchEvent(new KeyboardEvent("keydown", keys)), PAUSE);
  });
  // Streamlit ignores a change that would make a text longer than its field takes. Then the field says so.
  document.addEventListener(
    "input",
    ({ target }) => {
      const field = target.closest?.('[data-testid="stTextInput"], [data-testid="stTextArea"]'),
        text = target.value;
      if (!field) return;
      setTimeout(() => {
        field.parentElement.querySelector(".pv-refused")?.remove();
        const counter = field.querySelector('[data-testid="InputInstructions"]')?.textContent ?? "",
          most = Number(counter.match(/\/(\d+)$/)?.[1]),
          said = (count) => count.toLocaleString("en-US");
        if (target.value === text || !(text.length > most)) return;
        const told = document.createElement("p"),
          fix = field.closest(".st-key-search") ? "Paste the last lines of the error" : "Paste less at a time";
        told.className = "pv-refused";
        told.role = "alert";
        told.textContent = `⚠ Expected at most ${said(most)} characters, but got ${said(text.length)}, so the field stays as it was. ${fix}.`;
        field.after(told);
      });
    },
    true,
  );
})();

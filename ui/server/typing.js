// Streamlit applies a text when its field loses the focus, or with Ctrl+Enter. The sequences are applied while they are
// typed: after a short pause, as if Ctrl+Enter had been pressed.
(() => {
  const PAUSE = 300; // ms
  let waiting = 0;
  document.addEventListener("input", ({ target, isComposing }) => {
    if (isComposing || !target.closest?.(".st-key-sequences")) return;
    clearTimeout(waiting);
    const keys = { key: "Enter", code: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
    waiting = setTimeout(() => target.dispatchEvent(new KeyboardEvent("keydown", keys)), PAUSE);
  });
})();

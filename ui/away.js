// While the server is away, movies play on and what was typed stays. A line says so, in the place of Streamlit's dialog,
// which covers the page; closed once, it stays closed until the server is back.
(() => {
  const WORDS = "The server cannot be reached. Movies play on, and what you typed stays; all else goes on once it is back.";
  const PATIENCE = 1500; // ms: a short break is none of a visitor's business
  let line, waiting = 0;
  const look = () => {
    const app = document.querySelector(".stApp");
    if (app?.dataset.testConnectionState === "CONNECTED" || !app?.querySelector(".stElementContainer")) {
      clearTimeout(waiting);
      waiting = 0;
      line?.remove();
      return;
    }
    document.querySelector(".stDialog [aria-label=Close]")?.click();
    waiting ||= setTimeout(() => {
      line = document.body.appendChild(document.createElement("div"));
      Object.assign(line, { id: "away", textContent: WORDS }).setAttribute("role", "alert");
    }, PATIENCE);
  };
  const seen = { childList: true, subtree: true, attributeFilter: ["data-test-connection-state"] };
  new MutationObserver(look).observe(document, seen);
})();

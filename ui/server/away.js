// While the server cannot be reached, movies still play and typed text is kept; a line says so. Streamlit would ask for
// the server every four seconds and cover the page with a dialog: here its request waits and is answered when possible.
(() => {
  const WORDS =
    "The server cannot be reached. Movies still play, and what you typed is kept; the rest resumes once it is back.";
  const PATIENCE = 1500; // ms: a short interruption is not reported
  const AGAIN = 200; // ms between two requests, plus a random share of it, since all visitors ask
  const asks = /\/_stcore\/(health|host-config)$/;
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const plain = window.fetch;
  window.fetch = async (what, how) => {
    if (!asks.test(what)) return plain(what, how);
    for (;;) {
      const reply = await plain(what, { signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
      if (reply && reply.status < 500) return reply;
      await pause(AGAIN * (1 + Math.random()));
    }
  };
  let line,
    waiting = 0;
  const look = () => {
    const app = document.querySelector(".stApp");
    if (app?.dataset.testConnectionState === "CONNECTED" || !app?.querySelector(".stElementContainer")) {
      clearTimeout(waiting);
      waiting = 0;
      line?.remove();
      return;
    }
    waiting ||= setTimeout(() => {
      line = document.body.appendChild(document.createElement("div"));
      Object.assign(line, { id: "away", textContent: WORDS }).setAttribute("role", "alert");
    }, PATIENCE);
  };
  const seen = { childList: true, subtree: true, attributeFilter: ["data-test-connection-state"] };
  new MutationObserver(look).observe(document, seen);
})();

// Streamlit makes an entry of the history for every setting that it writes into the address by itself, some of them
// half written. Here an entry is another page, another question or another round of the quiz; whatever else changes
// takes the place of the entry that is there, so that Back and Forward lead from one whole state to another.
(() => {
  const push = window.history.pushState.bind(window.history);
  const replace = window.history.replaceState.bind(window.history);
  const place = ({ pathname, searchParams: asked }) =>
    JSON.stringify([
      pathname,
      asked.get("entry"),
      asked.get("level") || "1",
      asked.get("round"),
      asked.get("worksheet"),
    ]);
  let left = ""; // the address when something was last clicked or pressed
  for (const kind of ["click", "keydown"])
    document.addEventListener(
      kind,
      () => {
        left = window.location.href;
      },
      true,
    );
  window.history.pushState = (state, unused, address) => {
    const here = new URL(window.location.href),
      there = new URL(address ?? "", here);
    // What belongs to a page that is left is taken out of the address, sometimes while it is still that page's own.
    if (left && here.pathname !== there.pathname && here.pathname === new URL(left).pathname)
      replace(window.history.state, unused, left);
    const drawn = there.searchParams.has("round") && !here.searchParams.has("round"); // a round for who named none
    const same = place(here) === place(there) || (here.pathname === there.pathname && drawn);
    (same ? replace : push)(state, unused, address);
  };
})();

// Streamlit adds a history entry for every setting that it writes into the address, some of them incomplete. Here a new
// entry is a different page, a different question or a different quiz round; every other change replaces the current
// entry, so that Back and Forward lead from one complete state to another.
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
    // Streamlit removes the old page's values from the address, sometimes while it is still that page's address.
    if (left && here.pathname !== there.pathname && here.pathname === new URL(left).pathname)
      replace(window.history.state, unused, left);
    const drawn = there.searchParams.has("round") && !here.searchParams.has("round"); // a round for an address without one
    const same = place(here) === place(there) || (here.pathname === there.pathname && drawn);
    (same ? replace : push)(state, unused, address);
  };
})();

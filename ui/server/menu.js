// On a phone Streamlit puts headings between the items of the menu's list, which is not allowed in a list. Screen readers
// get plain links and headings instead. They would read "Expand sidebar" for a button whose words, which style.css writes,
// say what it opens, and "Collapse sidebar" for the one that closes it.
(() => {
  const mend = () => {
    const open = document.querySelector('[data-testid="stExpandSidebarButton"][aria-label]');
    if (open) open.title = "Open"; // axe does not read words from a style sheet
    open?.removeAttribute("aria-label");
    const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button:not([title])');
    if (close) close.ariaLabel = close.title = "Close";
    const parts = '[data-testid="stSidebarNavItems"]';
    for (const part of document.querySelectorAll(`${parts}:not([role]), ${parts} li:not([role])`)) {
      part.setAttribute("role", "presentation");
    }
  };
  new MutationObserver(mend).observe(document, { childList: true, subtree: true });
})();
// Choosing a page with the mouse or a finger leaves the focus on the menu's button, where Space would open the menu again
// instead of playing the movie: so the focus is removed.
(() => {
  let chosen = -Infinity;
  document.addEventListener(
    "click",
    ({ target, detail, timeStamp }) => {
      if (detail && target.closest?.('[data-testid="stTopNavDropdownLink"]')) chosen = timeStamp;
    },
    true,
  );
  document.addEventListener("focusin", ({ target, timeStamp }) => {
    if (timeStamp - chosen < 1000 && target.matches('[data-testid="stTopNavSection"]')) target.blur();
  });
})();
// The hint at the top of a lesson leads to what there is to try below the movie, or to the way on.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.(".st-key-hint a")) return;
  event.preventDefault(); // the address keeps its hash
  const below = document.querySelector(".st-key-try") ?? document.querySelector(".st-key-onward");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  below?.scrollIntoView({ block: "center", behavior: still ? "instant" : "smooth" });
  below?.querySelector("button, a")?.focus({ preventScroll: true });
});
// A difference in the table of the first screen leads to Compare, as the link below the picture does: within the visit, and
// in a tab of its own with the batch of the address.
document.addEventListener("pointerdown", ({ target }) => {
  const link = target.closest?.(".why a");
  if (link) link.search = location.search;
});
document.addEventListener("click", (event) => {
  const way = event.target.closest?.(".why a") && document.querySelector('.st-key-onward a[href*="compare"]');
  if (!way || event.ctrlKey || event.metaKey || event.shiftKey) return; // with these keys the browser opens a tab
  event.preventDefault();
  way.click();
});
// On a phone the sidebar covers the page: close it when a page has been chosen, and open every page with it closed, although
// Streamlit remembers in the browser that it was left open.
(() => {
  const covers = matchMedia("(width <= 56rem)");
  try {
    for (const name of covers.matches ? Object.keys(localStorage) : [])
      if (name.startsWith("stSidebarCollapsed")) localStorage.removeItem(name);
  } catch {
    // A browser without storage remembers nothing.
  }
  document.addEventListener("click", ({ target }) => {
    if (covers.matches && target.closest?.('[data-testid="stSidebarNavLink"]'))
      setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  });
})();
// What is unfolded at the lower end of the sidebar comes into view as it grows: below the window nobody would see it.
document.addEventListener(
  "toggle",
  ({ target }) => {
    const follow = () => {
      if (target.getAnimations().length) requestAnimationFrame(follow);
      target.scrollIntoView();
    };
    if (target.open === true && target.closest('[data-testid="stSidebar"]')) follow();
  },
  true,
);

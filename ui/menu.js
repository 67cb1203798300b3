// On a phone Streamlit puts headings between the items of the menu's list, where no list may have them. What reads the
// page aloud gets links and headings instead.
(() => {
  const mend = () => {
    const parts = '[data-testid="stSidebarNavItems"]';
    for (const part of document.querySelectorAll(`${parts}:not([role]), ${parts} li:not([role])`)) {
      part.setAttribute("role", "presentation");
    }
  };
  new MutationObserver(mend).observe(document, { childList: true, subtree: true });
})();

// A table that is wider than the page scrolls sideways, also by the arrow keys: for these it needs the focus.
(() => {
  const measured = new ResizeObserver((boxes) => {
    for (const { target } of boxes) {
      const box = target.closest(".stTable > div");
      if (box) box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
    }
  });
  new MutationObserver(() => {
    for (const box of document.querySelectorAll(".stTable > div:not([tabindex])")) {
      box.tabIndex = -1;
      for (const each of [box, ...box.children]) measured.observe(each);
    }
  }).observe(document, { childList: true, subtree: true });
})();

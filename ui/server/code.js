// Short code in a sentence stays in one line (style.css). CSS cannot tell how long it is.
(() => {
  const SHORT = 20; // characters
  const codes = document.getElementsByTagName("code");
  new MutationObserver(() => {
    for (const code of codes)
      if (code.parentNode.nodeName !== "PRE") code.toggleAttribute("data-short", code.textContent.length <= SHORT);
  }).observe(document, { childList: true, characterData: true, subtree: true });
})();

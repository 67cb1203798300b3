// The names of the examples are those in links: what each of them shows is in a tooltip.
(() => {
  /** @type {Record<string, string>} */
  const titles = window.__examples;
  for (const kind of ["pointerover", "focusin"])
    document.addEventListener(kind, ({ target }) => {
      const chip = target.closest?.(".st-key-example button");
      if (chip && !chip.title) chip.title = titles[chip.textContent.trim()] ?? "";
    });
})();

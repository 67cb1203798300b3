// Runs in a page before its own scripts: finds elements, also in shadow roots, and reports when they have been painted.
(() => {
  const roots = [document];
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    roots.push(root);
    return root;
  };
  const find = (selector) => {
    for (const root of roots) {
      const node = root.querySelector(selector);
      if (node) return node;
    }
    return null;
  };
  // The time after the first frame that was painted with `ready` true, in ms since navigation started.
  const painted = (ready, patience = 30000) =>
    new Promise((resolve, reject) => {
      const { port1, port2 } = new MessageChannel(),
        began = performance.now();
      port1.onmessage = () => resolve(performance.now()); // runs after the frame's callbacks and its painting
      const look = () => {
        if (ready()) port2.postMessage(null);
        else if (performance.now() - began > patience) reject(new Error(`not painted within ${patience} ms: ${ready}`));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  let pressed = 0;
  addEventListener(
    "keydown",
    ({ key, isTrusted, timeStamp }) => {
      if (key === "Enter" && isTrusted) pressed = timeStamp; // ui/server/typing.js also presses it, perhaps while we wait
    },
    true,
  );
  // ms from the last press of Enter until `ready` is painted.
  const answered = (ready) => painted(ready).then((now) => now - pressed);
  window.bench = { find, painted, answered };
})();

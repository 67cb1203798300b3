// Elements and icons.

/** @type {Record<string, string>} */
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M12 3v10L4 8z",
  play: "M4 2.5v11L13.5 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3v10l8-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  code: "M5.5 4 1.5 8l4 4 1.1-1.1L3.7 8l2.9-2.9zM10.5 4 9.4 5.1 12.3 8l-2.9 2.9 1.1 1.1 4-4z",
  full: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  less: "M5 2h2v5H2V5h3zM9 2h2v3h3v2H9zM2 9h5v5H5v-3H2zM9 9h5v2h-3v3H9z",
  again: "M8 2.5a5.5 5.5 0 1 1-5.4 4.4h1.9A3.7 3.7 0 1 0 8 4.3V7L4.2 3.4 8 0z",
  image: "M2 3h12v10H2zm2 2v5l2.5-2.5L9 10l1.5-1.5L12 10V5z",
};

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
};
/**
 * @param {Node | string | (Node | string)[]} content
 * @param {() => void} onClick
 * @param {Record<string, string | number>} attributes
 */
export const button = (content, onClick, attributes = {}) => {
  const node = el("button", { type: "button", ...attributes }, ...[content].flat());
  node.addEventListener("click", onClick);
  return node;
};
/** @param {string} name */
export const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
};

// Elements, and texts in which `code` stands between backticks.

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean>} attributes true: there without a value; false: not there
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== false) node.setAttribute(name, value === true ? "" : String(value));
  node.append(...children);
  return node;
};

/**
 * @param {string} label
 * @param {() => void} press
 * @param {Record<string, string | number | boolean>} attributes
 */
export const button = (label, press, attributes = {}) => {
  const node = el("button", { type: "button", ...attributes }, ...rich(label));
  node.addEventListener("click", press);
  return node;
};

/** The app's address, which ends where the path of this page begins. */
export const base = new URL(location.pathname.replace(/\/join(\/[^/]*)?$/, "/"), location.origin);

/**
 * Markdown of the teacher, rendered and made safe by the server.
 * @param {string} html
 */
export function markdown(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const image of body.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), base).href;
  return el("div", { class: "slide" }, ...body.childNodes);
}

/** @param {string} text */
export const rich = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

/**
 * A to Z, then AA, AB and so on, as packviz.text.sequence_label has it.
 * @param {number} b
 * @returns {string}
 */
export const letter = (b) => (b < 26 ? "" : letter(Math.floor(b / 26) - 1)) + String.fromCharCode(65 + (b % 26));

/**
 * @param {number} many
 * @param {string} noun
 */
export const counted = (many, noun) => `${many} ${noun}${many === 1 ? "" : "s"}`;

// Colours: read from the style sheet, mixed, and mapped to the diverging scale.

/** @import { Hue, Rgb, Theme, Tint } from "./types" */

const PALE = 0.3, // the share of a sequence's hue in the former place of its tokens,
  INKED = 0.78, // and that of the text colour in their texts there;
  DIM = { fill: 0.16, flat: 0.4, edge: 0.75, ink: 0.5 }, // on a dark page, where pale hues look muddy, these: of a cell, of one without an outline, of its outline and of its texts
  SHADES = 129, // of the diverging scale
  LIGHT = 0.3, // the luminance from which a page is light,
  WHITE = 0.179, // and up to which a colour has white text on it
  EDGED = 3; // the contrast of the edge of a token with the background, at least

/**
 * @param {string} colour
 * @returns {Rgb}
 */
export function channels(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour.trim());
  if (hex) return [0, 2, 4].map((i) => parseInt(hex[1].slice(i, i + 2), 16));
  const numbers = colour.match(/[\d.]+/g);
  return numbers ? numbers.slice(0, 3).map(Number) : [255, 255, 255];
}
/**
 * Red, green, blue and alpha, each up to 255, of any CSS colour, such as `color(srgb 1 1 1)`.
 * @param {string} colour
 */
export function painted(colour) {
  const pixel = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d"));
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data;
}
/** @param {Rgb} rgb */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
/** @param {Rgb} rgb */
const css = (rgb) => `#${rgb.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
/** @type {(a: Rgb, b: Rgb, share: number) => Rgb} */
const mix = (a, b, share) => a.map((v, i) => v + (b[i] - v) * share);
/** @type {(one: Rgb, other: Rgb) => number} */
export function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}
/**
 * The colour moved towards the ink, at least a little, until its contrast with the background is 3:1.
 * @type {(rgb: Rgb, background: Rgb, ink: Rgb) => Rgb}
 */
function bordering(rgb, background, ink) {
  let share = 0.2;
  while (share < 1 && contrast(mix(rgb, ink, share), background) < EDGED) share += 0.02;
  return mix(rgb, ink, Math.min(1, share));
}
/**
 * Black or white, whichever has more contrast on this colour: at least 4.5:1.
 * @param {Rgb} rgb
 */
export const textOn = (rgb) => (luminance(rgb) > WHITE ? "#000000" : "#ffffff");

/**
 * Whether the page is light or dark: by its background, else by the browser's preference.
 * @param {Element} root
 */
export function schemeOf(root) {
  const page = getComputedStyle(root).getPropertyValue("--st-background-color").trim();
  return (page ? luminance(channels(page)) < LIGHT : matchMedia("(prefers-color-scheme: dark)").matches)
    ? "dark"
    : "light";
}
/**
 * @param {Element} root
 * @returns {Theme}
 */
export function readTheme(root) {
  const style = getComputedStyle(root);
  return themed((name) => style.getPropertyValue(`--pv-${name}`).trim(), style.fontFamily);
}
const NAMED = ["background", "surface", "text", "quiet", "line", "hair", "pad", "pad-hatch", "now", "good", "wrong"];

/**
 * @param {(name: string) => string} read a colour by its name in the style sheet
 * @param {string} font
 * @returns {Theme}
 */
export function themed(read, font) {
  const named = /** @type {any} */ (Object.fromEntries(NAMED.map((name) => [name, read(name)]))),
    list = (/** @type {string} */ name) => read(name).split(",").map(channels);
  return { ...named, hues: list("hues").map((rgb) => hueOn(rgb, named)), ramp: rampOf(list("diverging")), font };
}
/**
 * What is drawn in the hue of a sequence, on a page of this theme.
 * @param {Rgb} rgb
 * @param {Theme} theme
 * @returns {Hue}
 */
function hueOn(rgb, theme) {
  const background = channels(theme.background),
    ink = channels(theme.text),
    edge = bordering(rgb, background, ink),
    whole = { fill: css(rgb), text: textOn(rgb), edge: css(edge) },
    pale = mix(background, rgb, PALE);
  if (luminance(background) > LIGHT)
    return { ...whole, ghost: css(pale), ghostFlat: css(pale), ghostText: css(mix(pale, ink, INKED)) };
  const dim = (/** @type {number} */ share) => css(mix(background, edge, share)),
    [ghost, ghostText] = [css(mix(background, rgb, DIM.fill)), css(mix(edge, ink, DIM.ink))];
  return { ...whole, ghost, ghostFlat: dim(DIM.flat), ghostEdge: dim(DIM.edge), ghostText };
}
/**
 * The diverging scale from the lowest number to the highest, through these colours.
 * @param {Rgb[]} stops
 * @returns {Tint[]}
 */
function rampOf(stops) {
  return Array.from({ length: SHADES }, (_, i) => {
    const at = (i / (SHADES - 1)) * (stops.length - 1),
      low = Math.min(stops.length - 2, Math.floor(at)),
      rgb = mix(stops[low], stops[low + 1], at - low);
    return { fill: css(rgb), text: textOn(rgb) };
  });
}

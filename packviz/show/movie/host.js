// Runs in a notebook, as the onload of the frame with a movie: its theme, and its height.
const say = (told) => this.contentWindow.postMessage({ packviz: told }, "*");
const dark = () => {
  const pixel = new OffscreenCanvas(1, 1).getContext("2d"); // it understands every CSS color syntax
  for (let node = this.parentElement; node; node = node.parentElement ?? node.getRootNode().host) {
    pixel.fillStyle = getComputedStyle(node).backgroundColor;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, alpha] = pixel.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return r + g + b < 300;
  }
  return /dark/.test(document.body.dataset.vscodeThemeKind) || matchMedia("(prefers-color-scheme: dark)").matches;
};
window.addEventListener("message", ({ source, data }) => {
  if (source === this.contentWindow && data?.packviz?.height) this.style.height = `${data.packviz.height}px`;
});
say({ theme: dark() ? "dark" : "light" });

// What was drawn in pixels for the window, tables and charts, is shrunk for paper (ui/style.css): by how much.
addEventListener("beforeprint", () => {
  const main = document.querySelector(".stMainBlockContainer");
  document.documentElement.style.setProperty("--wide", String(Math.max(680, main?.clientWidth ?? 0)));
});

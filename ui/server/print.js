// Tables and charts drawn in pixels for the window are scaled down for paper (style.css); this sets the scale. A dark
// page is printed dark on white.
addEventListener("beforeprint", () => {
  const app = document.querySelector(".stApp");
  document.documentElement.toggleAttribute("data-dark", Boolean(app) && getComputedStyle(app).colorScheme === "dark");
  const main = document.querySelector(".stMainBlockContainer");
  document.documentElement.style.setProperty("--wide", String(Math.max(680, main?.clientWidth ?? 0)));
});
